<?php

declare(strict_types=1);

namespace Docket;

/**
 * What `LeaseLoop` does with one kind of what can be held.
 *
 * @internal
 * @template T of Held
 */
interface Leasing
{
    /**
     * What the person holds, and new ones.
     *
     * @param int $count how many they hold at most after it
     * @param bool $idle nothing is worked on: the call may wait for something to come
     * @return list<T>
     */
    public function claim(int $count, bool $idle): array;

    /** Seconds from a claim, or from what came of one, until it is worth while to claim again. */
    public function pause(): float;

    /** @param T $held how long its lease is, where that is known */
    public function leaseSeconds(Held $held): ?float;

    /** @param T $held how long leases of its kind are by now */
    public function askLeaseSeconds(Held $held): float;

    /**
     * @param T $held
     * @return string until when it is held now
     */
    public function renew(Held $held): string;

    /**
     * The handler, in a process of its own.
     *
     * @param T $held
     * @param resource $line
     * @return string what came of it, as JSON
     */
    public function handle(Held $held, $line): string;

    /**
     * Sends what came of it.
     *
     * @param T $held
     * @param bool $more whether another one is wanted
     * @return ?T the next one
     */
    public function settle(Held $held, HandlerOutcome $told, bool $more): ?Held;

    /** @param T $held not begun */
    public function giveBack(Held $held): void;
}
