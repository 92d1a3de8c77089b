<?php

declare(strict_types=1);

namespace Docket;

/**
 * Asks and takes, one after the other, until it is told to stop; while no server answers, ever more slowly.
 *
 * @internal
 */
final class Polling
{
    private const LOOK_SECONDS = 0.1;

    private readonly int $parent;

    /**
     * @param float $wait seconds that the long poll may take
     * @param \Closure(\Throwable, null): void $onError
     */
    public function __construct(
        private readonly Signals $signals,
        private readonly float $wait,
        private readonly \Closure $onError,
    ) {
        $this->parent = posix_getppid();
    }

    /**
     * @template T of object
     * @param \Closure(): ?T $ask one long poll; what it throws, other than UnavailableException, ends the loop
     * @param \Closure(T): void $take
     */
    public function run(\Closure $ask, \Closure $take): void
    {
        $failures = 0;
        while (!$this->stopping()) {
            $began = Transport::now();
            try {
                $work = $ask();
            } catch (UnavailableException $error) {
                ($this->onError)($error, null);
                $this->pause(Pause::after($failures++));
                continue;
            }
            $failures = 0;
            if ($work !== null) {
                $take($work);
            } elseif (Transport::now() - $began < min($this->wait, 1) / 2) {
                // a server that is stopping answers long polls at once
                $this->pause(Pause::after(3));
            }
        }
    }

    public function stopping(): bool
    {
        // a parent killed with -9 can't tell its children
        return $this->signals->asked() || posix_getppid() !== $this->parent;
    }

    /** Sleeps, unless it is told to stop. */
    public function pause(float $seconds): void
    {
        $until = Transport::now() + $seconds;
        while (!$this->stopping() && Transport::now() < $until) {
            Pause::sleep(max(0, min(self::LOOK_SECONDS, $until - Transport::now())));
        }
    }
}
