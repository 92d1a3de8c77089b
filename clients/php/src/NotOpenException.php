<?php

declare(strict_types=1);

namespace Docket;

/** The ticket or case is final; `reason` is why, where it was ended from outside. */
class NotOpenException extends RefusedException
{
    /** `decided`, `invalidated`, `expired`, …. */
    public readonly string $state;
    public readonly ?string $by;
    public readonly ?string $at;

    /** @param array<string, mixed> $answer */
    public function __construct(array $answer)
    {
        parent::__construct($answer);
        $fields = new Fields($answer);
        $this->state = $fields->text('state');
        $this->by = $fields->textOrNull('by');
        $this->at = $fields->textOrNull('at');
    }
}
