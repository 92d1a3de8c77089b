<?php

declare(strict_types=1);

namespace Docket;

/**
 * One try that failed in a way that another server, or a later time, may mend.
 *
 * @internal
 */
final class TransientFailure extends \RuntimeException
{
    /** @param ?int $status of an answer; null where none came */
    public function __construct(
        string $message,
        public readonly float $retryAfter = 0,
        ?\Throwable $cause = null,
        public readonly ?int $status = null,
    ) {
        parent::__construct($message, 0, $cause);
    }
}
