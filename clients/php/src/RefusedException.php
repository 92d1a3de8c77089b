<?php

declare(strict_types=1);

namespace Docket;

/** The server understood the command and refused it: `{success: false, error}`. */
class RefusedException extends DocketException
{
    public readonly ?string $id;
    /** `invalid_request`, `lease_lost`, `not_open`; null where the text says it all. */
    public readonly ?string $problem;
    /** How a reservation ended: `expired`, `released`, …; null where none did. */
    public readonly ?string $reason;

    /** @param array<string, mixed> $answer */
    public function __construct(array $answer)
    {
        parent::__construct($answer['error'] ?? 'the server gave no reason');
        $this->id = $answer['id'] ?? null;
        $this->problem = $answer['code'] ?? null;
        $this->reason = $answer['reason'] ?? null;
    }
}
