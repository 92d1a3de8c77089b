<?php

declare(strict_types=1);

namespace Docket;

/**
 * SIGTERM and SIGINT, held back except where they are asked for: an HTTP call must not break off in its middle,
 * for it may just be bringing a job. `mortally` is for calls that may.
 *
 * @internal
 */
final class Signals
{
    private const ENDING = [SIGTERM, SIGINT];

    /** @var list<int> */
    private array $before = [];
    /** @var array<int, callable|int> */
    private array $handlers = [];
    private bool $asked = false;

    public function hold(): void
    {
        pcntl_sigprocmask(SIG_BLOCK, self::ENDING, $this->before);
        foreach (self::ENDING as $signal) {
            $this->handlers[$signal] = pcntl_signal_get_handler($signal);
        }
        $this->note();
    }

    /**
     * Runs what a signal to end may break off, and the whole process with it.
     *
     * @template T
     * @param \Closure(): T $run
     * @return T
     */
    public function mortally(\Closure $run): mixed
    {
        foreach (self::ENDING as $signal) {
            pcntl_signal($signal, SIG_DFL);
        }
        pcntl_sigprocmask(SIG_UNBLOCK, self::ENDING);
        try {
            return $run();
        } finally {
            pcntl_sigprocmask(SIG_BLOCK, self::ENDING);
            $this->note();
        }
    }

    /** Whether the process was told to end, since `hold`. */
    public function asked(): bool
    {
        pcntl_sigprocmask(SIG_UNBLOCK, self::ENDING);
        pcntl_signal_dispatch();
        pcntl_sigprocmask(SIG_BLOCK, self::ENDING);
        return $this->asked;
    }

    /** As it was before `hold`. */
    public function restore(): void
    {
        foreach ($this->handlers as $signal => $handler) {
            pcntl_signal($signal, $handler);
        }
        pcntl_sigprocmask(SIG_SETMASK, $this->before);
    }

    /** A handler ends by itself: who tells the whole group of processes to end means the consumer. */
    public function ignore(): void
    {
        foreach (self::ENDING as $signal) {
            pcntl_signal($signal, SIG_IGN);
        }
        pcntl_sigprocmask(SIG_SETMASK, $this->before);
    }

    private function note(): void
    {
        foreach (self::ENDING as $signal) {
            pcntl_signal($signal, fn () => $this->asked = true);
        }
    }
}
