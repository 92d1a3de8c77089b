<?php

declare(strict_types=1);

namespace Docket;

/**
 * What `LeaseLoop` does with cases.
 *
 * @internal
 * @implements Leasing<CourtCase>
 */
final class CaseLeasing implements Leasing
{
    private const CLAIM_RETRY_SECONDS = 1.0;

    private float $pause = 0;
    /** Of handlers in a row. */
    private int $failures = 0;
    /** The case that is worked on is an invitation. */
    private bool $invited = false;

    /**
     * @param \Closure(CourtCase, Context): mixed $handler
     * @param \Closure(int): float $backoff
     * @param \Closure(\Throwable, ?CourtCase): void $onError
     */
    public function __construct(
        private readonly Cases $cases,
        private readonly string $court,
        private readonly string $juror,
        private readonly \Closure $handler,
        private readonly float $pauseSeconds,
        private readonly \Closure $backoff,
        private readonly \Closure $onError,
        private readonly Signals $signals,
    ) {
    }

    public function claim(int $count, bool $idle): array
    {
        $case = $this->cases->claim($this->court, $this->juror, self::CLAIM_RETRY_SECONDS)->case;
        $this->pause = $case === null ? $this->pauseSeconds : 0;
        if ($case === null) {
            return [];
        }
        // an invitation is a hold that one has without having claimed
        $this->invited = $case->resumed && $this->isInvited($case);
        return [$case];
    }

    public function pause(): float
    {
        return $this->pause;
    }

    public function leaseSeconds(Held $held): ?float
    {
        return null;
    }

    public function askLeaseSeconds(Held $held): float
    {
        return $this->cases->leaseSeconds($this->court, $this->invited);
    }

    public function renew(Held $held): string
    {
        return $this->cases->renew($held, 0);
    }

    public function handle(Held $held, $line): string
    {
        $this->signals->ignore();
        try {
            $vote = ($this->handler)($held, new Context($line, $this->invited));
            return json_encode(['result' => is_array($vote) ? $vote : ['option' => $vote]], Transport::JSON);
        } catch (\Throwable $error) {
            return Fork::failure($error, match (true) {
                $error instanceof Skip => ['skip' => true],
                $error instanceof Decline => ['decline' => true],
                $error instanceof Release => ['delay' => $error->delay],
                default => [],
            });
        }
    }

    public function settle(Held $held, HandlerOutcome $told, bool $more): ?CourtCase
    {
        $this->pause = 0;
        $failure = $told->failure();
        if ($failure === null) {
            $this->vote($held, $told->result());
        } elseif ($told->asks('decline') && $this->invited) {
            $this->cases->decline($held);
        } elseif ($told->asks('skip') || $told->asks('decline')) {
            $this->cases->release($held, skip: true);
        } elseif ($told->delay() !== null) {
            $this->cases->release($held);
            $this->pause = $told->delay();
        } else {
            $this->failed($held, new DocketException($failure));
        }
        return null;
    }

    public function giveBack(Held $held): void
    {
        $this->cases->release($held);
    }

    private function vote(CourtCase $case, mixed $vote): void
    {
        $given = $vote instanceof \stdClass ? (array) $vote : [];
        [$option, $comment] = [$given['option'] ?? null, $given['comment'] ?? null];
        if (!is_string($option) || !($comment === null || is_string($comment))) {
            $this->failed($case, new DocketException('a handler returns an option, or `option` and `comment`'));
            return;
        }
        try {
            $this->cases->vote($case, $option, $comment);
            $this->failures = 0;
        } catch (HttpException $error) {
            if ($error->problem !== 'invalid_request') {
                // not this juror, and the hold has ended by it
                throw $error;
            }
            $this->failed($case, $error);
        } catch (UnavailableException $error) {
            if ($error->isPassing()) {
                throw $error;
            }
            $this->failed($case, $error);
        }
    }

    /** The case may come again at once, so this juror waits. */
    private function failed(CourtCase $case, \Throwable $error): void
    {
        ($this->onError)($error, $case);
        $this->pause = ($this->backoff)(++$this->failures);
        $this->cases->release($case);
    }

    private function isInvited(CourtCase $case): bool
    {
        foreach ($this->cases->invitations($this->juror) as $invitation) {
            if ($invitation->token() === $case->token()) {
                return true;
            }
        }
        return false;
    }
}
