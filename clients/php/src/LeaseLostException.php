<?php

declare(strict_types=1);

namespace Docket;

/** The token isn't live: what it stood for was handed to someone else, taken away, or is over. */
class LeaseLostException extends RefusedException
{
    /** Who has it now; null where no one has, and for jobs. */
    public readonly ?string $holder;
    /** When the lease ended, where that is known. */
    public readonly ?string $endedAt;

    /** @param array<string, mixed> $answer */
    public function __construct(array $answer)
    {
        parent::__construct($answer);
        $fields = new Fields($answer);
        $this->holder = $fields->textOrNull('holder');
        $this->endedAt = $fields->textOrNull('endedAt');
    }
}
