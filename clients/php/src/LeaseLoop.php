<?php

declare(strict_types=1);

namespace Docket;

/**
 * A process that claims for one person, and keeps what they hold while other processes run the handlers. It is one
 * process for all, because a claim hands out again what its person holds: two would be given each other's.
 *
 * @internal
 * @template T of Held
 */
final class LeaseLoop
{
    private const LOOK_SECONDS = 0.1;

    private readonly int $parent;
    /** @var array<string, Hold<T>> by token */
    private array $holds = [];
    private float $claimAt = 0;
    private int $failures = 0;
    /** Why claiming was refused: what is held is still worked off. */
    private ?DocketException $refusal = null;

    /**
     * @param Leasing<T> $leasing
     * @param \Closure(\Throwable, ?T): void $onError
     */
    public function __construct(
        private readonly Leasing $leasing,
        private readonly int $concurrency,
        private readonly \Closure $onError,
        private readonly Signals $signals,
    ) {
        $this->parent = posix_getppid();
    }

    /**
     * Until the process is told to end, and nothing is held any more.
     *
     * @throws DocketException when claiming is refused: going on would not help
     */
    public function run(): void
    {
        while (!$this->stopping() || $this->holds !== []) {
            if ($this->orphaned()) {
                $this->abandon();
                return;
            }
            if (!$this->stopping() && count($this->holds) < $this->concurrency && Transport::now() >= $this->claimAt) {
                $this->claim();
            }
            $this->wait();
            foreach ($this->holds as $token => $hold) {
                $this->tend($token, $hold);
            }
        }
        if ($this->refusal !== null) {
            throw $this->refusal;
        }
    }

    private function stopping(): bool
    {
        return $this->refusal !== null || $this->signals->asked() || $this->orphaned();
    }

    private function orphaned(): bool
    {
        return posix_getppid() !== $this->parent;
    }

    /** Who kills a program means all of it: the leases run out, and others go on. */
    private function abandon(): void
    {
        foreach ($this->holds as $hold) {
            if ($hold->told === null) {
                $hold->fork->kill();
            }
        }
    }

    private function claim(): void
    {
        try {
            $came = $this->leasing->claim($this->concurrency, $this->holds === []);
            $this->failures = 0;
            $this->claimAt = Transport::now() + $this->leasing->pause();
        } catch (UnavailableException $error) {
            ($this->onError)($error, null);
            $this->claimAt = Transport::now() + Pause::after($this->failures++);
            return;
        } catch (DocketException $error) {
            $this->refusal = $error;
            return;
        }
        foreach ($came as $held) {
            $isNew = !isset($this->holds[$held->token()]);
            if ($isNew && count($this->holds) < $this->concurrency) {
                $this->begin($held);
            }
        }
    }

    /** @param T $held */
    private function begin(Held $held): void
    {
        try {
            if ($this->stopping()) {
                // came while it was being stopped: given back at once, so that it needn't wait for its lease
                $this->leasing->giveBack($held);
            } else {
                $this->holds[$held->token()] = new Hold($held, $this->leasing);
                $this->claimAt = 0;
            }
        } catch (DocketException $error) {
            ($this->onError)($error, $held);
        }
    }

    /** Until a handler ends, or there is something else to do. */
    private function wait(): void
    {
        $running = [];
        $dueAt = INF;
        foreach ($this->holds as $hold) {
            if ($hold->told === null) {
                $running[] = $hold->fork;
            }
            $dueAt = min($dueAt, $hold->lost ? INF : $hold->renewAt, $hold->told === null ? INF : $hold->sendAt);
        }
        if (count($this->holds) < $this->concurrency && !$this->stopping()) {
            $dueAt = min($dueAt, $this->claimAt);
        }
        Fork::wait($running, min(self::LOOK_SECONDS, $dueAt - Transport::now()));
    }

    /** @param Hold<T> $hold */
    private function tend(string $token, Hold $hold): void
    {
        if ($hold->told === null && $hold->fork->ended(0)) {
            $hold->told = $hold->fork->told();
        }
        if ($hold->told !== null && ($hold->lost || Transport::now() >= $hold->sendAt)) {
            $this->settle($token, $hold, $hold->told);
        } elseif (!$hold->lost && Transport::now() >= $hold->renewAt) {
            $this->renew($hold);
        }
    }

    /** @param Hold<T> $hold */
    private function settle(string $token, Hold $hold, HandlerOutcome $told): void
    {
        unset($this->holds[$token]);
        if ($hold->lost) {
            return;
        }
        $stopping = $this->stopping();
        try {
            $next = $this->leasing->settle($hold->held, $told, !$stopping);
            $this->claimAt = Transport::now() + $this->leasing->pause();
            if ($next !== null) {
                $this->begin($next);
            }
        } catch (UnavailableException $error) {
            ($this->onError)($error, $hold->held);
            if (!$stopping && $error->isPassing()) {
                // nothing else may come of it: sent until a server has taken it, has said no or fails at it
                $this->holds[$token] = $hold;
                $hold->sendAt = Transport::now() + Pause::after($hold->failures++);
            }
        } catch (DocketException $error) {
            ($this->onError)($error, $hold->held);
        }
    }

    /** @param Hold<T> $hold */
    private function renew(Hold $hold): void
    {
        try {
            $hold->renew();
        } catch (DocketException $error) {
            ($this->onError)($error, $hold->held);
            $gone = $error instanceof HttpException && $error->status === 404;
            if ($gone || $error instanceof LeaseLostException || $error instanceof NotOpenException) {
                $hold->lost = true;
                $hold->fork->tell('!');
            }
        }
    }
}
