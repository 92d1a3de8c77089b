<?php

declare(strict_types=1);

namespace Docket;

/**
 * Asks for a user's next task, runs the handler, completes it with what the handler returned (S4.5, S4.7). Each handler
 * runs in a process of its own: one that dies has failed like one that throws.
 */
final class Puller
{
    private readonly Supervisor $supervisor;

    /**
     * @param string $uid whose tasks, his own and those of his groups; one loop for each user, who has one dispatch at
     *     a time
     * @param \Closure(Dispatch): mixed $handler what it returns completes the dispatch, as its result; when it throws,
     *     the same dispatch comes again
     * @param list<string> $exclude tasks, or `task/occurrence`s, that are not to come
     * @param float $wait seconds that a server waits for a task to be due; a stop doesn't wait for it
     * @param ?\Closure(int): float $backoff failures in a row → seconds until their dispatch is asked for again
     * @param int $stuckAfter from this number of failures in a row on, `onError` is told a `StuckException`
     * @param ?\Closure(\Throwable, ?Dispatch): void $onError told of what went wrong and is being dealt with
     */
    public function __construct(
        Client $client,
        string $uid,
        \Closure $handler,
        array $exclude = [],
        float $wait = 10,
        ?\Closure $backoff = null,
        int $stuckAfter = 5,
        ?\Closure $onError = null,
    ) {
        // clients that failed together don't come back together
        $backoff ??= fn (int $failures): float => Pause::jittered(Pause::doubling($failures));
        $onError ??= function (\Throwable $error, ?Dispatch $dispatch): void {
            error_log('docket: ' . ($dispatch === null ? '' : "task $dispatch->taskId: ") . $error->getMessage());
        };
        $loop = fn (Signals $signals) =>
            (new PullSlot($client, $uid, $handler, $exclude, $wait, $backoff, $stuckAfter, $onError, $signals))->run();
        $this->supervisor = new Supervisor($loop, 1);
    }

    /**
     * Works until SIGTERM, SIGINT or `stop`, and until a running handler's result has been taken.
     *
     * @throws HttpException when asking is refused: going on would not help
     */
    public function run(): void
    {
        $this->supervisor->run();
    }

    /** Nothing new is begun. For a shutdown that begins in this process; from outside send SIGTERM. */
    public function stop(): void
    {
        $this->supervisor->stop();
    }
}
