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

    private readonly int $parent;

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
        $this->parent = posix_getppid();
    }

    public function run(): void
    {
        $failures = 0;
        while (!$this->stopping()) {
            $began = Transport::now();
            try {
                $job = $this->client->pop($this->topics, $this->wait, 0);
            } catch (UnavailableException $error) {
                ($this->onError)($error, null);
                Pause::sleep(Pause::after($failures++));
                continue;
            }
            $failures = 0;
            if ($job !== null) {
                $this->take($job);
            } elseif (Transport::now() - $began < min($this->wait, 1) / 2) {
                // a server that is stopping answers long polls at once
                Pause::sleep(Pause::after(3));
            }
        }
    }

    private function stopping(): bool
    {
        // a consumer killed with -9 can't tell its slots
        return $this->signals->asked() || posix_getppid() !== $this->parent;
    }

    private function take(Job $job): void
    {
        try {
            if ($this->stopping()) {
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
        $told = json_decode($fork->said() ?? '{"failure": "its process ended before its handler did"}', true);
        if ($told === []) {
            $this->client->finish($job);
            return;
        }
        $failure = match (true) {
            isset($told['bury']) => new Bury($told['failure']),
            isset($told['delay']) => new Release($told['delay'], $told['failure']),
            default => new DocketException($told['failure']),
        };
        ($this->onError)($failure, $job);
        if ($failure instanceof Bury) {
            $this->client->bury($job);
        } else {
            $delay = $failure instanceof Release ? $failure->delay : ($this->backoff)($job->attempt);
            $this->client->release($job, $delay);
        }
    }

    /** Runs in a process of its own; what came of it, as JSON. */
    private function handle(Job $job, Context $context): string
    {
        $this->signals->ignore();
        try {
            ($this->handler)($job, $context);
            return '[]';
        } catch (\Throwable $error) {
            $told = ['failure' => $error instanceof Bury || $error instanceof Release
                ? $error->getMessage()
                : $error::class . ": {$error->getMessage()}"];
            $told += match (true) {
                $error instanceof Bury => ['bury' => true],
                $error instanceof Release => ['delay' => $error->delay],
                default => [],
            };
            return json_encode($told, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
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
