<?php

declare(strict_types=1);

namespace Docket;

/**
 * A process that pops one job at a time, and keeps it alive while another one runs the handler.
 *
 * @internal
 */
final class Slot
{
    /** The smallest TTR there is: until a job's own is known, it could be this. */
    private const SHORTEST_TTR = 1.0;
    /** Three tries fit into a TTR. */
    private const BEATS = 3;

    private readonly Polling $polling;

    /**
     * @param string|list<string> $topics
     * @param \Closure(Job, Context): void $handler
     * @param \Closure(int): float $backoff
     * @param \Closure(\Throwable, ?Job): void $onError
     */
    public function __construct(
        private readonly Client $client,
        private readonly string|array $topics,
        private readonly \Closure $handler,
        private readonly float $wait,
        private readonly \Closure $backoff,
        private readonly \Closure $onError,
        private readonly Signals $signals,
    ) {
        $this->polling = new Polling($signals, $wait, $onError);
    }

    public function run(): void
    {
        $this->polling->run(fn () => $this->client->pop($this->topics, $this->wait, 0), $this->take(...));
    }

    private function take(Job $job): void
    {
        try {
            if ($this->polling->stopping()) {
                // came while it was being stopped: given back at once, so that it needn't wait for its TTR
                $this->client->release($job);
            } else {
                $this->work($job);
            }
        } catch (DocketException $error) {
            ($this->onError)($error, $job);
        }
    }

    private function work(Job $job): void
    {
        $fork = Fork::start(fn ($line) => $this->handle($job, new Context($line)));
        $this->keep($job, $fork);
        $told = $fork->told();
        $text = $told->failure();
        if ($text === null) {
            $this->client->finish($job);
            return;
        }
        $failure = match (true) {
            $told->asks('bury') => new Bury($text),
            $told->delay() !== null => new Release($told->delay(), $text),
            default => new DocketException($text),
        };
        ($this->onError)($failure, $job);
        if ($failure instanceof Bury) {
            $this->client->bury($job, self::reasonOf($text));
        } else {
            $delay = $failure instanceof Release ? $failure->delay : ($this->backoff)($job->attempt);
            $this->client->release($job, $delay, reason: self::reasonOf($text));
        }
    }

    /** What a reason may be: 2,000 characters, of which those beyond 16 bits count twice, without NUL, and not none. */
    private static function reasonOf(string $text): ?string
    {
        $most = preg_match('/[\x{10000}-\x{10FFFF}]/u', $text) === 1 ? 1000 : 2000;
        preg_match("/^.{0,$most}/su", str_replace("\0", '', $text), $start);
        return ($start[0] ?? '') === '' ? null : $start[0];
    }

    /** Runs in a process of its own; what came of it, as JSON. */
    private function handle(Job $job, Context $context): string
    {
        $this->signals->ignore();
        try {
            ($this->handler)($job, $context);
            return '{}';
        } catch (\Throwable $error) {
            return Fork::failure($error, match (true) {
                $error instanceof Bury => ['bury' => true],
                $error instanceof Release => ['delay' => $error->delay],
                default => [],
            });
        }
    }

    /** Touches a job while its handler runs. A short handler costs no call: its job's TTR isn't even asked for. */
    private function keep(Job $job, Fork $fork): void
    {
        $ttr = null;
        $lost = false;
        $touchAt = Transport::now() + self::SHORTEST_TTR / self::BEATS;
        while (!$fork->ended($lost ? 60 : $touchAt - Transport::now())) {
            if ($lost || Transport::now() < $touchAt) {
                continue;
            }
            try {
                $this->client->touch($job, 0);
                $ttr ??= (float) $this->client->get($job->id)['TTR'];
            } catch (LeaseLostException) {
                $lost = true;
                $fork->tell('!');
            } catch (DocketException $error) {
                ($this->onError)($error, $job);
            }
            $touchAt = Transport::now() + ($ttr ?? self::SHORTEST_TTR) / self::BEATS;
        }
    }
}
