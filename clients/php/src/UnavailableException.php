<?php

declare(strict_types=1);

namespace Docket;

/** No server took the call, for as long as it was repeated. `getPrevious()` is the last failure. */
class UnavailableException extends DocketException
{
    /** @param ?int $status of the last answer: 500 where a server failed at this call; null where there was none */
    public function __construct(string $message, public readonly ?int $status = null, ?\Throwable $previous = null)
    {
        parent::__construct($message, 0, $previous);
    }

    /** Whether the same call is likely to succeed later. A 500 says that the server fails at this very call. */
    public function isPassing(): bool
    {
        return $this->status !== 500;
    }
}
