<?php

declare(strict_types=1);

namespace Docket;

/**
 * Pops, runs handlers, keeps their jobs alive, and finishes or releases them. Each handler runs in a process of
 * its own, so that a job is kept alive whatever its handler does, and a handler that dies is one that failed.
 */
final class Consumer
{
    private const LOOK_SECONDS = 0.1;
    private const RESTART_SECONDS = 1.0;

    private readonly \Closure $backoff;
    private readonly \Closure $onError;
    private bool $stopped = false;

    /**
     * @param string|list<string> $topics
     * @param \Closure(Job, Context): void $handler its return finishes the job; what it throws releases it, or
     *     buries it where that is a `Bury`
     * @param int $concurrency how many handlers run at once
     * @param float $wait seconds that a server waits for a job to come; a stop may take as long
     * @param ?\Closure(int): float $backoff attempt → seconds until a job whose handler failed is ready again
     * @param ?\Closure(\Throwable, ?Job): void $onError told of what went wrong and is being dealt with
     */
    public function __construct(
        private readonly Client $client,
        private readonly string|array $topics,
        private readonly \Closure $handler,
        private readonly int $concurrency = 1,
        private readonly float $wait = 5,
        ?\Closure $backoff = null,
        ?\Closure $onError = null,
    ) {
        if (!function_exists('pcntl_fork') || !function_exists('posix_kill')) {
            throw new \LogicException('Consumer needs the extensions pcntl and posix, as PHP has them on the command line');
        }
        $this->backoff = $backoff ?? fn (int $attempt): float => min(300, 2 ** min($attempt - 1, 20));
        $this->onError = $onError ?? function (\Throwable $error, ?Job $job): void {
            error_log('docket: ' . ($job === null ? '' : "job $job->id: ") . $error->getMessage());
        };
    }

    /**
     * Works until SIGTERM, SIGINT or `stop`, and until every running handler has ended.
     *
     * @throws HttpException|RefusedException when popping is refused: going on would not help
     */
    public function run(): void
    {
        $this->stopped = false;
        $signals = new Signals();
        $signals->hold();
        try {
            $this->supervise($signals);
        } finally {
            $signals->restore();
        }
    }

    /** Nothing new is begun. For a shutdown that begins in this process; from outside send SIGTERM. */
    public function stop(): void
    {
        $this->stopped = true;
    }

    private function supervise(Signals $signals): void
    {
        /** @var array<int, Fork> $slots */
        $slots = [];
        $refused = null;
        $told = false;
        $startAt = 0.0;
        do {
            $stopping = $this->stopped || $signals->asked() || $refused !== null;
            while (!$stopping && count($slots) < $this->concurrency && Transport::now() >= $startAt) {
                $slot = Fork::start(fn () => $this->slot($signals));
                $slots[$slot->pid] = $slot;
            }
            if ($stopping && !$told) {
                array_walk($slots, fn (Fork $slot) => posix_kill($slot->pid, SIGTERM));
                $told = true;
            }
            Pause::sleep(self::LOOK_SECONDS);
            foreach ($slots as $pid => $slot) {
                if ($slot->ended(0)) {
                    unset($slots[$pid]);
                    $refused ??= self::refusal($slot->said());
                    // one that somebody killed is replaced, but not in a hurry
                    $startAt = Transport::now() + self::RESTART_SECONDS;
                }
            }
        } while ($slots !== [] || !$stopping);
        if ($refused !== null) {
            throw $refused;
        }
    }

    /** Runs in a process of its own; why it could not go on, as JSON. */
    private function slot(Signals $signals): string
    {
        try {
            $slot = new Slot(
                $this->client,
                $this->topics,
                $this->handler,
                $this->wait,
                $this->backoff,
                $this->onError,
                $signals,
            );
            $slot->run();
            return '{}';
        } catch (HttpException $error) {
            $why = ['status' => $error->status, 'code' => $error->problem, 'error' => $error->getMessage()];
        } catch (RefusedException $error) {
            $why = ['code' => $error->problem, 'error' => $error->getMessage()];
        } catch (\Throwable $error) {
            $why = ['error' => $error::class . ": {$error->getMessage()}"];
        }
        return json_encode($why, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
    }

    private static function refusal(?string $said): ?DocketException
    {
        $why = json_decode($said ?? '{}', true);
        if (!isset($why['error'])) {
            return null;
        }
        if (!isset($why['status'])) {
            return isset($why['code']) ? new RefusedException($why) : new DocketException($why['error']);
        }
        $detail = preg_replace('/^\d+: /', '', $why['error']);
        return in_array($why['status'], [401, 403], true)
            ? new AuthException($why['status'], $why['code'], $detail)
            : new HttpException($why['status'], $why['code'], $detail);
    }
}
