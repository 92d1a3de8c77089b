<?php

declare(strict_types=1);

namespace Docket;

/**
 * A process that pulls one user's tasks, and completes them with what another process, the handler's, returns.
 *
 * @internal
 */
final class PullSlot
{
    private const LOOK_SECONDS = 60.0;

    private readonly Polling $polling;
    private string $logId = '';
    /** In a row, of the dispatch with that log id. */
    private int $failures = 0;

    /**
     * @param \Closure(Dispatch): mixed $handler
     * @param list<string> $exclude
     * @param \Closure(int): float $backoff
     * @param \Closure(\Throwable, ?Dispatch): void $onError
     */
    public function __construct(
        private readonly Client $client,
        private readonly string $uid,
        private readonly \Closure $handler,
        private readonly array $exclude,
        private readonly float $wait,
        private readonly \Closure $backoff,
        private readonly int $stuckAfter,
        private readonly \Closure $onError,
        private readonly Signals $signals,
    ) {
        $this->polling = new Polling($signals, $wait, $onError);
    }

    public function run(): void
    {
        $next = fn () => $this->client->next($this->uid, $this->exclude, $this->wait, 0)->dispatch;
        // nothing is lost with a long poll: what it may have brought is handed out again, with the same log id
        $this->polling->run(fn () => $this->signals->mortally($next), $this->take(...));
    }

    private function take(Dispatch $dispatch): void
    {
        if ($this->polling->stopping()) {
            // came while it was being stopped: it stays with the user, who gets it again
            return;
        }
        if ($dispatch->logId !== $this->logId) {
            $this->failures = 0;
        }
        $this->logId = $dispatch->logId;
        try {
            $this->complete($dispatch, $this->handled($dispatch));
        } catch (DocketException $error) {
            $this->failures++;
            $stuck = $this->failures >= $this->stuckAfter;
            ($this->onError)($stuck ? new StuckException($this->failures, $error) : $error, $dispatch);
            $this->polling->pause(($this->backoff)($this->failures));
        }
    }

    /** What the handler returned; objects are objects, so that an empty one stays one. */
    private function handled(Dispatch $dispatch): mixed
    {
        $fork = Fork::start(fn () => $this->handle($dispatch));
        do {
            $ended = $fork->ended(self::LOOK_SECONDS);
        } while (!$ended);
        $told = $fork->told();
        $failure = $told->failure();
        return $failure === null ? $told->result() : throw new DocketException($failure);
    }

    /** Runs in a process of its own; what came of it, as JSON. */
    private function handle(Dispatch $dispatch): string
    {
        $this->signals->ignore();
        try {
            return json_encode(['result' => ($this->handler)($dispatch)], Transport::JSON);
        } catch (\Throwable $error) {
            return Fork::failure($error);
        }
    }

    /** Sends it until a server has taken it, has said no or fails at it: its answer may be lost when all the rest is done. */
    private function complete(Dispatch $dispatch, mixed $result): void
    {
        for ($failures = 0;; $failures++) {
            try {
                $this->client->complete($this->uid, $dispatch->logId, $result);
                return;
            } catch (HttpException $error) {
                // whatever is sent after these, the dispatch is over
                if (!$error instanceof StaleLogIdException && $error->problem !== 'lease_lost') {
                    throw $error;
                }
                ($this->onError)($error, $dispatch);
                return;
            } catch (UnavailableException $error) {
                if ($this->polling->stopping() || !$error->isPassing()) {
                    throw $error;
                }
                ($this->onError)($error, $dispatch);
            }
            $this->polling->pause(Pause::after($failures));
        }
    }
}
