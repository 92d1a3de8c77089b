<?php

declare(strict_types=1);

namespace Docket;

/**
 * Runs a loop in processes of their own, and others in place of those that die, until it is told to stop.
 *
 * @internal
 */
final class Supervisor
{
    private const LOOK_SECONDS = 0.1;
    private const RESTART_SECONDS = 1.0;

    private bool $stopped = false;

    /** @param \Closure(Signals): void $loop what each process does until it is told to end */
    public function __construct(private readonly \Closure $loop, private readonly int $processes)
    {
        if (!function_exists('pcntl_fork') || !function_exists('posix_kill')) {
            throw new \LogicException('the extensions pcntl and posix are needed, as PHP has them on the command line');
        }
    }

    /**
     * Until SIGTERM, SIGINT or `stop`, and until every process has ended.
     *
     * @throws DocketException what a loop threw, which ends them all
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

    public function stop(): void
    {
        $this->stopped = true;
    }

    private function supervise(Signals $signals): void
    {
        /** @var array<int, Fork> $forks */
        $forks = [];
        $refused = null;
        $told = false;
        $startAt = 0.0;
        do {
            $stopping = $this->stopped || $signals->asked() || $refused !== null;
            while (!$stopping && count($forks) < $this->processes && Transport::now() >= $startAt) {
                $fork = Fork::start(fn () => $this->loop($signals));
                $forks[$fork->pid] = $fork;
            }
            if ($stopping && !$told) {
                array_walk($forks, fn (Fork $fork) => posix_kill($fork->pid, SIGTERM));
                $told = true;
            }
            Pause::sleep(self::LOOK_SECONDS);
            foreach ($forks as $pid => $fork) {
                if ($fork->ended(0)) {
                    unset($forks[$pid]);
                    $refused ??= self::refusal($fork->said());
                    // one that someone killed is replaced, but not in a hurry
                    $startAt = Transport::now() + self::RESTART_SECONDS;
                }
            }
        } while ($forks !== [] || !$stopping);
        if ($refused !== null) {
            throw $refused;
        }
    }

    /** Runs in a process of its own; why it could not go on, as JSON. */
    private function loop(Signals $signals): string
    {
        try {
            ($this->loop)($signals);
            return '{}';
        } catch (HttpException $error) {
            $why = ['status' => $error->status, 'detail' => $error->detail, 'answer' => $error->answer];
        } catch (RefusedException $error) {
            $why = ['answer' => ['code' => $error->problem, 'error' => $error->getMessage()]];
        } catch (\Throwable $error) {
            $why = ['error' => $error::class . ": {$error->getMessage()}"];
        }
        return json_encode($why, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
    }

    private static function refusal(?string $said): ?DocketException
    {
        $why = new Fields(Fields::objectOf(json_decode($said ?? '{}', true)) ?? []);
        $answer = $why->objectOrNull('answer');
        return match (true) {
            $why->any('status') !== null => HttpException::of($why->whole('status'), $why->text('detail'), $answer ?? []),
            $answer !== null => new RefusedException($answer),
            $why->any('error') !== null => new DocketException($why->text('error')),
            default => null,
        };
    }
}
