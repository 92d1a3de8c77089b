<?php

declare(strict_types=1);

namespace Docket;

/**
 * What `LeaseLoop` does with tickets.
 *
 * @internal
 * @implements Leasing<Ticket>
 */
final class TicketLeasing implements Leasing
{
    /** A lost answer costs nothing; whoever is to stop must not wait for long. */
    private const CLAIM_RETRY_SECONDS = 1.0;
    private const LONGEST_PAUSE = 1.0;

    private float $pause = 0;
    /** In a row. */
    private int $empty = 0;

    /**
     * @param \Closure(Ticket, Context): mixed $handler
     * @param list<string> $skills
     * @param \Closure(int): float $backoff
     * @param \Closure(\Throwable, ?Ticket): void $onError
     */
    public function __construct(
        private readonly Tickets $tickets,
        private readonly string $queue,
        private readonly ?string $reviewer,
        private readonly \Closure $handler,
        private readonly array $skills,
        private readonly float $waitSeconds,
        private readonly \Closure $backoff,
        private readonly \Closure $onError,
        private readonly Signals $signals,
    ) {
    }

    public function claim(int $count, bool $idle): array
    {
        $began = Transport::now();
        // a claim hands out again what is held, so it would not wait
        $wait = $idle ? $this->waitSeconds : 0;
        $retry = self::CLAIM_RETRY_SECONDS;
        $tickets = $this->tickets->claim($this->queue, $this->reviewer, $this->skills, $count, $wait, $retry)->tickets;
        $this->empty = $idle ? 0 : $this->empty + 1;
        $this->pause = match (true) {
            !$idle => min(self::LONGEST_PAUSE, Pause::after($this->empty)),
            // a server that is stopping answers long polls at once
            $tickets === [] && Transport::now() - $began < min($wait, 1) / 2 => Pause::after(3),
            default => 0,
        };
        return $tickets;
    }

    public function pause(): float
    {
        return $this->pause;
    }

    public function leaseSeconds(Held $held): ?float
    {
        $lease = $held->lease;
        // one that was resumed may have been renewed since it was granted
        return $held->resumed || $lease?->grantedAt === null
            ? null
            : self::seconds($lease->expiresAt) - self::seconds($lease->grantedAt);
    }

    public function askLeaseSeconds(Held $held): float
    {
        return $this->tickets->leaseSeconds($held->queue);
    }

    public function renew(Held $held): string
    {
        return $this->tickets->renew($held, 0);
    }

    public function handle(Held $held, $line): string
    {
        $this->signals->ignore();
        try {
            return json_encode(['result' => ($this->handler)($held, new Context($line))], Transport::JSON);
        } catch (\Throwable $error) {
            return Fork::failure($error, match (true) {
                $error instanceof Skip => ['skip' => true],
                $error instanceof Release => ['delay' => $error->delay],
                default => [],
            });
        }
    }

    public function settle(Held $held, HandlerOutcome $told, bool $more): ?Ticket
    {
        $this->pause = 0;
        $failure = $told->failure();
        if ($failure === null) {
            return $this->decide($held, $told->result(), $more);
        }
        if ($told->asks('skip')) {
            $this->tickets->release($held, skip: true);
        } elseif ($told->delay() !== null) {
            $this->tickets->release($held, delaySeconds: $told->delay());
        } else {
            $this->failed($held, new DocketException($failure));
        }
        return null;
    }

    public function giveBack(Held $held): void
    {
        $this->tickets->release($held);
    }

    private function decide(Ticket $ticket, mixed $decision, bool $more): ?Ticket
    {
        try {
            return $this->tickets->decide($ticket, $decision, $more, $this->skills)->next;
        } catch (HttpException $error) {
            // it doesn't fit the form, say
            $this->failed($ticket, $error);
            return null;
        } catch (UnavailableException $error) {
            if ($error->isPassing()) {
                throw $error;
            }
            $this->failed($ticket, $error);
            return null;
        }
    }

    private function failed(Ticket $ticket, \Throwable $error): void
    {
        ($this->onError)($error, $ticket);
        $this->tickets->release($ticket, delaySeconds: ($this->backoff)($ticket->attempts));
    }

    private static function seconds(string $time): float
    {
        return (float) (new \DateTimeImmutable($time))->format('U.u');
    }
}
