<?php

declare(strict_types=1);

namespace Docket;

/**
 * A dispatch has failed so many times in a row, and no other can come before it. `getPrevious()` is the last failure.
 */
class StuckException extends DocketException
{
    public function __construct(public readonly int $failures, \Throwable $cause)
    {
        parent::__construct("failed $failures times in a row, at last with: {$cause->getMessage()}", 0, $cause);
    }
}
