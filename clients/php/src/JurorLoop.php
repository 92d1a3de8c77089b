<?php

declare(strict_types=1);

namespace Docket;

/**
 * Claims cases of a court for one juror, invitations first, runs the handler, keeps the lease alive, and votes as the
 * handler returns. Each handler runs in a process of its own, so that the lease is kept whatever the handler does, and
 * one that dies has failed.
 */
final class JurorLoop
{
    private readonly Supervisor $supervisor;

    /**
     * @param \Closure(CourtCase, Context): mixed $handler returns the option, or `option` and `comment`; what it throws
     *     gives the case back: for later, or as a `Skip` or `Decline` says
     * @param float $pauseSeconds until it asks again after there was nothing
     * @param ?\Closure(int): float $backoff failures in a row → seconds until it asks again
     * @param ?\Closure(\Throwable, ?CourtCase): void $onError told of what went wrong and is being dealt with
     */
    public function __construct(
        Client $client,
        string $court,
        string $juror,
        \Closure $handler,
        float $pauseSeconds = 5,
        ?\Closure $backoff = null,
        ?\Closure $onError = null,
    ) {
        $backoff ??= Pause::doubling(...);
        $onError ??= function (\Throwable $error, ?CourtCase $case): void {
            error_log('docket: ' . ($case === null ? '' : "case $case->id: ") . $error->getMessage());
        };
        $leasing = fn (Signals $signals) =>
            new CaseLeasing($client->cases, $court, $juror, $handler, $pauseSeconds, $backoff, $onError, $signals);
        // a juror has one case of a court at a time
        $loop = fn (Signals $signals) => (new LeaseLoop($leasing($signals), 1, $onError, $signals))->run();
        $this->supervisor = new Supervisor($loop, 1);
    }

    /**
     * Works until SIGTERM, SIGINT or `stop`, and until a running handler's vote has been taken.
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
