<?php

declare(strict_types=1);

namespace Docket;

/**
 * What comes for as long as one wants it: reconnects by itself, with growing pauses, behind the last event that came. It
 * is ended by `break`, or by `close` from a signal handler; who comes back goes on behind the last event they got.
 *
 * @template T of object
 * @implements \IteratorAggregate<int, T>
 */
abstract class Subscription implements \IteratorAggregate
{
    /** Servers send a sign of life every 15 seconds at least. */
    private const SILENCE_SECONDS = 45.0;
    private const LOOK_SECONDS = 0.1;

    private bool $closed = false;
    /** @var \Closure(\Throwable): void */
    private readonly \Closure $onError;

    /** @param ?\Closure(\Throwable): void $onError */
    protected function __construct(protected readonly Transport $transport, ?\Closure $onError)
    {
        $this->onError = $onError ?? fn (\Throwable $error) => error_log("docket: {$error->getMessage()}");
    }

    /** Ends the iteration, within a second. */
    public function close(): void
    {
        $this->closed = true;
    }

    /** @return \Generator<int, T> */
    public function getIterator(): \Generator
    {
        for ($failures = 0; !$this->closed; $failures++) {
            try {
                foreach ($this->lines($this->connect()) as $line) {
                    $event = $this->read($line);
                    if ($event !== null) {
                        $failures = -1;
                        yield $event;
                    }
                }
                $this->transport->turn();
            } catch (UnavailableException $error) {
                ($this->onError)($error);
            }
            $this->pause(Pause::after(max(0, $failures)));
        }
    }

    /**
     * @return resource from behind the last event that came
     * @throws UnavailableException
     */
    abstract protected function connect();

    /** @return ?T the event that a line completes */
    abstract protected function read(string $line): ?object;

    /**
     * @param resource $body
     * @return \Generator<int, string> whole lines, without their ends
     */
    private function lines($body): \Generator
    {
        $rest = '';
        $heardAt = Transport::now();
        try {
            while (!$this->closed) {
                $bytes = self::arrived($body);
                if ($bytes !== '') {
                    $heardAt = Transport::now();
                } elseif (feof($body) || Transport::now() - $heardAt > self::SILENCE_SECONDS) {
                    return;
                }
                $lines = explode("\n", $rest . $bytes);
                $rest = array_pop($lines);
                foreach ($lines as $line) {
                    if ($this->closed) {
                        return;
                    }
                    yield rtrim($line, "\r");
                }
            }
        } finally {
            fclose($body);
        }
    }

    /**
     * What has come; nothing after a second of silence. A body that comes in chunks is read through a filter, and then
     * `fread` waits until it has all that it was asked for, for as long as anything comes at all.
     *
     * @param resource $body
     */
    private static function arrived($body): string
    {
        $first = (string) @fread($body, 1);
        $more = stream_get_meta_data($body)['unread_bytes'];
        return $more > 0 ? $first . fread($body, $more) : $first;
    }

    private function pause(float $seconds): void
    {
        $until = Transport::now() + $seconds;
        while (!$this->closed && Transport::now() < $until) {
            Pause::sleep(max(0, min(self::LOOK_SECONDS, $until - Transport::now())));
        }
    }
}
