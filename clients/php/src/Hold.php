<?php

declare(strict_types=1);

namespace Docket;

/**
 * Something held, the process of its handler, and when its lease is to be renewed.
 *
 * @internal
 * @template T of Held
 */
final class Hold
{
    /** Until a lease's length is known, it could be this. */
    private const SHORTEST_LEASE = 1.0;
    /** Three tries fit into a lease. */
    private const BEATS = 3;

    public readonly Fork $fork;
    public bool $lost = false;
    /** What came of the handler, once it has ended. */
    public ?HandlerOutcome $told = null;
    /** Of sending that. */
    public int $failures = 0;
    public float $sendAt = 0;
    public float $renewAt;
    private ?float $leaseSeconds;

    /**
     * @param T $held
     * @param Leasing<T> $leasing
     */
    public function __construct(public readonly Held $held, private readonly Leasing $leasing)
    {
        $this->leaseSeconds = $leasing->leaseSeconds($held);
        $this->renewAt = $this->nextBeat();
        $this->fork = Fork::start(fn ($line) => $leasing->handle($held, $line));
    }

    /** @throws DocketException */
    public function renew(): void
    {
        $this->renewAt = $this->nextBeat();
        $this->leasing->renew($this->held);
        $this->leaseSeconds ??= $this->leasing->askLeaseSeconds($this->held);
        $this->renewAt = $this->nextBeat();
    }

    private function nextBeat(): float
    {
        return Transport::now() + ($this->leaseSeconds ?? self::SHORTEST_LEASE) / self::BEATS;
    }
}
