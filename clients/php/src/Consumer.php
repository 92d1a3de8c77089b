<?php

declare(strict_types=1);

namespace Docket;

/**
 * Pops, runs handlers, keeps their jobs alive, and finishes or releases them. Each handler runs in a process of
 * its own, so that a job is kept alive whatever its handler does, and a handler that dies is one that failed.
 */
final class Consumer
{
    private readonly Supervisor $supervisor;

    /**
     * @param string|list<string> $topics
     * @param \Closure(Job, Context): void $handler its return finishes the job; what it throws releases it, or
     *     buries it where that is a `Bury`
     * @param int $concurrency how many handlers run at once
     * @param float $wait seconds that a server waits for a job to come; a stop may take as long
     * @param ?\Closure(int): float $backoff attempt → seconds until a job whose handler failed is ready again
     * @param ?\Closure(\Throwable, ?Job): void $onError told of what went wrong and is being dealt with
     */
    public function __construct(
        Client $client,
        string|array $topics,
        \Closure $handler,
        int $concurrency = 1,
        float $wait = 5,
        ?\Closure $backoff = null,
        ?\Closure $onError = null,
    ) {
        $backoff ??= Pause::doubling(...);
        $onError ??= function (\Throwable $error, ?Job $job): void {
            error_log('docket: ' . ($job === null ? '' : "job $job->id: ") . $error->getMessage());
        };
        $loop = fn (Signals $signals) =>
            (new Slot($client, $topics, $handler, $wait, $backoff, $onError, $signals))->run();
        $this->supervisor = new Supervisor($loop, $concurrency);
    }

    /**
     * Works until SIGTERM, SIGINT or `stop`, and until every running handler has ended.
     *
     * @throws HttpException|RefusedException when popping is refused: going on would not help
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
