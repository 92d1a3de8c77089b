<?php

declare(strict_types=1);

namespace Docket;

/** A task's occurrence as it is handed out to one user; objects in `params` are arrays. */
final class Dispatch
{
    /**
     * @param string $logId what a completion quotes
     * @param string $occurrence its scheduled time, which names it among the task's occurrences
     * @param array<string, mixed> $params
     * @param bool $redo it was handed out before, and not completed: perhaps some of it is done
     */
    public function __construct(
        public readonly string $logId,
        public readonly string $taskId,
        public readonly string $occurrence,
        public readonly string $startTime,
        public readonly array $params,
        public readonly bool $redo,
    ) {
    }
}
