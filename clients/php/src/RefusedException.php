<?php

declare(strict_types=1);

namespace Docket;

/** The server understood the call and refused it, because of what the item is by now or of what it was sent. */
class RefusedException extends DocketException
{
    public readonly ?string $id;
    /** `invalid_request`, `lease_lost`, `not_open`; null where the text says it all. */
    public readonly ?string $problem;
    /** How a lease ended (`expired`, `released`, …), or why an item was; null where neither did. */
    public readonly ?string $reason;

    /** @param array<string, mixed> $answer */
    public function __construct(array $answer)
    {
        $fields = new Fields($answer);
        parent::__construct($fields->textOrNull('error') ?? 'the server gave no reason');
        $this->id = $fields->textOrNull('id');
        $this->problem = $fields->textOrNull('code');
        $this->reason = $fields->textOrNull('reason');
    }
}
