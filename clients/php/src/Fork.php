<?php

declare(strict_types=1);

namespace Docket;

/**
 * A copy of this process that runs one function, with a line to it.
 *
 * @internal
 */
final class Fork
{
    private string $said = '';

    /** @param resource $line */
    private function __construct(public readonly int $pid, private $line)
    {
    }

    /** @param \Closure(resource): ?string $run what it returns is said to the parent */
    public static function start(\Closure $run): self
    {
        $ends = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, STREAM_IPPROTO_IP);
        $pid = $ends === false ? -1 : pcntl_fork();
        if ($pid === -1) {
            throw new DocketException('no process could be started');
        }
        if ($pid > 0) {
            fclose($ends[1]);
            return new self($pid, $ends[0]);
        }
        fclose($ends[0]);
        $said = $run($ends[1]);
        stream_set_blocking($ends[1], true);
        fwrite($ends[1], $said ?? '');
        self::leave();
    }

    /** Waits for its end, so long at most; whether it has ended. */
    public function ended(float $seconds): bool
    {
        $read = [$this->line];
        $none = null;
        $micros = (int) round(max(0, $seconds) * 1_000_000);
        if (@stream_select($read, $none, $none, intdiv($micros, 1_000_000), $micros % 1_000_000) !== 1) {
            return false;
        }
        $this->said .= (string) fread($this->line, 65_536);
        if (!feof($this->line)) {
            return false;
        }
        pcntl_waitpid($this->pid, $status);
        return true;
    }

    /**
     * Waits until one of them has something to say, so long at most.
     *
     * @param list<self> $forks
     */
    public static function wait(array $forks, float $seconds): void
    {
        if ($forks === []) {
            Pause::sleep(max(0, $seconds));
            return;
        }
        $lines = array_map(fn (self $fork) => $fork->line, $forks);
        $none = null;
        $micros = (int) round(max(0, $seconds) * 1_000_000);
        @stream_select($lines, $none, $none, intdiv($micros, 1_000_000), $micros % 1_000_000);
    }

    public function kill(): void
    {
        posix_kill($this->pid, SIGKILL);
    }

    /** What it returned; null when it died, or called exit, before. */
    public function said(): ?string
    {
        return $this->said === '' ? null : $this->said;
    }

    /** What a handler's process told at its end. */
    public function told(): HandlerOutcome
    {
        return HandlerOutcome::of($this->said);
    }

    /**
     * What a handler's process returns when the handler threw.
     *
     * @param array<string, mixed> $more what the handler asks for by it
     */
    public static function failure(\Throwable $error, array $more = []): string
    {
        $text = $more === [] ? $error::class . ": {$error->getMessage()}" : $error->getMessage();
        return json_encode(['failure' => $text] + $more, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
    }

    public function tell(string $byte): void
    {
        @fwrite($this->line, $byte);
    }

    /**
     * Ends a copy without a trace: what the original wants done at its own end (functions, destructors, the
     * last words on a TLS connection) must not be done by a copy.
     */
    private static function leave(): never
    {
        while (ob_get_level() > 0) {
            ob_end_flush();
        }
        flush();
        posix_kill(getmypid(), SIGKILL);
        exit;
    }
}
