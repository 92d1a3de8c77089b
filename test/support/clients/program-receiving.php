<?php

// Receives callbacks with the PHP client as a test says: program-receiving.php receive JSON
// Each is handled in a process of its own, as a web server would do it.

declare(strict_types=1);

require __DIR__ . '/program-common.php';

use Docket\Callback;
use Docket\SignatureException;
use Docket\Versions;

/** Versions that outlive the program: a file for each key, locked from the question on until the process ends. */
final class FileVersions implements Versions
{
    /** @var array<string, resource> */
    private array $open = [];

    public function __construct(private string $prefix)
    {
    }

    public function last(string $key): ?int
    {
        $this->open[$key] = fopen("$this->prefix." . sha1($key), 'c+');
        flock($this->open[$key], LOCK_EX);
        $text = stream_get_contents($this->open[$key]);
        return $text === '' ? null : (int) $text;
    }

    public function keep(string $key, int $version): void
    {
        rewind($this->open[$key]);
        fwrite($this->open[$key], (string) $version);
        fflush($this->open[$key]);
    }
}

$handle = function (Callback $callback) use ($asked): void {
    $key = $callback->key;
    say(['began' => $key]);
    usleep((int) (($asked['seconds'] ?? 0) * 1_000_000));
    if (isset($asked['failures']) && begun($key) <= $asked['failures']) {
        throw new RuntimeException('as asked');
    }
    $message = $callback->message;
    $whole = $message['type'] === $callback->type && $message[$callback->kind] === $callback->item;
    $said = array_diff_key((array) $callback, ['item' => 0, 'message' => 0]);
    say(['handled' => $said + ['whole' => $whole]]);
};

/** @return array{array<string, string>, string} headers and body of what is asked */
function request($connection): array
{
    $headers = [];
    while (($line = rtrim((string) fgets($connection))) !== '') {
        [$name, $value] = [...explode(': ', $line, 2), ''];
        $headers[strtolower($name)] = $value;
    }
    return [$headers, (string) stream_get_contents($connection, (int) ($headers['content-length'] ?? 0))];
}

/** @return array{int, array<string, string>} status and body of the answer */
function answered(array $headers, string $body, Versions $versions, Closure $handle): array
{
    global $asked;
    try {
        $received = Callback::receive($headers, $body, $asked['secret'], $versions, $handle);
        return [200, ['outcome' => $received->value]];
    } catch (Throwable $error) {
        return [$error instanceof SignatureException ? 401 : 500, ['error' => shortName($error)]];
    }
}

$receive = function () use ($asked, $handle): void {
    $versions = new FileVersions($asked['store'] ?? uniqid('versions-', true));
    $server = stream_socket_server('tcp://127.0.0.1:0');
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, fn () => exit(0));
    pcntl_signal(SIGCHLD, SIG_IGN);
    say(['url' => 'http://' . stream_socket_get_name($server, false)]);
    while (true) {
        $connection = @stream_socket_accept($server, 1);
        if ($connection === false || pcntl_fork() > 0) {
            continue;
        }
        [$status, $answer] = answered(...[...request($connection), $versions, $handle]);
        $text = json_encode($answer);
        $length = strlen($text);
        fwrite($connection, "HTTP/1.1 $status OK\r\ncontent-length: $length\r\nconnection: close\r\n\r\n$text");
        exit(0);
    }
};

run(compact('receive'));
