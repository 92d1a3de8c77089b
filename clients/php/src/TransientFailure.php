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
    public function __construct(string $message, public readonly float $retryAfter = 0, ?\Throwable $cause = null)
    {
        parent::__construct($message, 0, $cause);
    }
}
