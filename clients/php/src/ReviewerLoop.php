<?php

declare(strict_types=1);

namespace Docket;

/**
 * Claims tickets of a queue for one reviewer, runs handlers, keeps the leases alive, and decides with what the handlers
 * return, taking the next ticket in the same call. Each handler runs in a process of its own, so that a lease is kept
 * whatever its handler does, and a handler that dies is one that failed.
 */
final class ReviewerLoop
{
    private readonly Supervisor $supervisor;

    /**
     * @param ?string $reviewer one for each loop: two would be handed each other's tickets. Null: whose key it is
     * @param \Closure(Ticket, Context): mixed $handler what it returns is the decision; what it throws gives the ticket
     *     back: later each time, or as a `Skip` or `Release` says
     * @param list<string> $skills
     * @param int $concurrency how many handlers run at once; the queue's `maxHeld` has to allow it
     * @param float $waitSeconds that a server waits for a ticket to come; a stop may take as long
     * @param ?\Closure(int): float $backoff attempts → seconds until a ticket whose handler failed is handed out again
     * @param ?\Closure(\Throwable, ?Ticket): void $onError told of what went wrong and is being dealt with
     */
    public function __construct(
        Client $client,
        string $queue,
        ?string $reviewer,
        \Closure $handler,
        array $skills = [],
        int $concurrency = 1,
        float $waitSeconds = 5,
        ?\Closure $backoff = null,
        ?\Closure $onError = null,
    ) {
        $backoff ??= Pause::doubling(...);
        $onError ??= function (\Throwable $error, ?Ticket $ticket): void {
            error_log('docket: ' . ($ticket === null ? '' : "ticket $ticket->id: ") . $error->getMessage());
        };
        $leasing = fn (Signals $signals) => new TicketLeasing(
            $client->tickets,
            $queue,
            $reviewer,
            $handler,
            $skills,
            $waitSeconds,
            $backoff,
            $onError,
            $signals,
        );
        $loop = fn (Signals $signals) => (new LeaseLoop($leasing($signals), $concurrency, $onError, $signals))->run();
        $this->supervisor = new Supervisor($loop, 1);
    }

    /**
     * Works until SIGTERM, SIGINT or `stop`, and until every running handler's decision has been taken.
     *
     * @throws HttpException when claiming is refused: going on would not help
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
