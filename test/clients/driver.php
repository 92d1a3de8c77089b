<?php

// Does with the PHP client what a test asks for, a line of JSON each on standard input: driver.ts says how.

declare(strict_types=1);

require __DIR__ . '/vendor/autoload.php';

use Docket\Callback;
use Docket\Client;
use Docket\Context;
use Docket\NewJob;
use Docket\SignatureException;
use Docket\Subscription;
use Docket\Versions;

function say(array $line): void
{
    fwrite(STDOUT, json_encode($line) . "\n");
}

function shortName(Throwable $error): string
{
    return str_replace('Exception', '', (new ReflectionClass($error))->getShortName());
}

function clientOf(array $asked): Client
{
    $http = fn (array $more = []) => new GuzzleHttp\Client(['connect_timeout' => 3, 'timeout' => 15] + $more);
    return new Client(
        ...$asked['client'],
        http: fn () => $http(),
        messages: new GuzzleHttp\Psr7\HttpFactory(),
        streams: fn () => $http(['stream' => true]),
    );
}

function call(array $asked): void
{
    static $answers = [];
    $step = fn (mixed $value, int|string $name) => is_object($value) ? $value->$name : $value[$name];
    $argument = fn (mixed $arg) => isset($arg['$answer']) ? array_reduce($arg['$answer'], $step, $answers) : $arg;
    $args = array_map($argument, $asked['args']);
    $named = $asked['named'] ?? [];
    if ($asked['call'] === 'tickets.list') {
        [$args, $named] = [[$named], []];
    }
    if ($asked['call'] === 'addMany') {
        $job = fn (array $of) => new NewJob($of['topic'], $of['id'], $of['body'], ttr: $of['TTR'] ?? 60);
        $args = [array_map($job, $args[0])];
    }
    $names = explode('.', $asked['call']);
    $name = array_pop($names);
    try {
        $value = array_reduce($names, $step, clientOf($asked))->$name(...$args, ...$named);
        $answers[] = $value instanceof Traversable ? iterator_to_array($value, false) : $value;
        say(['answer' => end($answers)]);
    } catch (Throwable $error) {
        $answers[] = null;
        $code = ['code' => $error->problem ?? null, 'error' => shortName($error)];
        say(['failed' => $code + get_object_vars($error)]);
    }
}

/** How often the handler of something has been begun, this time too, by whatever process. */
function begun(string $key): int
{
    $file = bin2hex($key) . '.begun';
    file_put_contents($file, '.', FILE_APPEND | LOCK_EX);
    clearstatcache();
    return filesize($file);
}

/** Does what the item's body says. */
function handlerOf(string $loop, string $person): Closure
{
    return function (object $item, ?Context $context = null) use ($loop, $person): mixed {
        $id = $item->id ?? $item->taskId;
        $attempt = $item->attempts ?? $item->attempt ?? null;
        $plan = $item->body ?? $item->value ?? $item->params ?? [];
        ['fail' => $fail, 'failures' => $failures, 'seconds' => $seconds] =
            $plan + ['fail' => null, 'failures' => 0, 'seconds' => 0];
        say([
            ...['began' => $id, 'attempt' => $attempt, 'at' => microtime(true), 'invited' => $context?->invited],
            ...['logId' => $item->logId ?? null, 'redo' => $item->redo ?? null],
        ]);
        $option = $plan['option'] ?? 'buyer';
        $vote = isset($plan['comment']) ? ['option' => $option, 'comment' => $plan['comment']] : $option;
        $answer = $loop === 'JurorLoop' ? $vote : ['of' => $id, 'empty' => new stdClass()];
        if ($plan['untilLost'] ?? false) {
            while (!$context->lost()) {
                usleep(50_000);
            }
            say(['lost' => $id]);
            return $answer;
        }
        $isFailing = ($attempt ?? begun("$person $id")) <= $failures;
        if ($isFailing || $fail === null) {
            usleep((int) ($seconds * 1_000_000));
        }
        if ($isFailing && $fail !== 'slow') {
            return match ($fail) {
                'exit' => exit(1),
                'unsayable' => NAN,
                'large' => str_repeat('x', 300_000),
                'skip' => throw new Docket\Skip('as asked'),
                'decline' => throw new Docket\Decline('as asked'),
                'bury' => throw new Docket\Bury('as asked'),
                'release' => throw new Docket\Release($plan['delay']),
                'error' => throw new RuntimeException('as asked'),
            };
        }
        say(['ended' => $id]);
        return $answer;
    };
}

function loop(array $asked): void
{
    $options = $asked['options'];
    $seconds = $options['backoffSeconds'] ?? null;
    unset($options['backoffSeconds']);
    $onError = fn (Throwable $error, ?object $item) => say([
        ...['error' => shortName($error), 'text' => $error->getMessage()],
        'item' => $item->id ?? $item->taskId ?? null,
    ]);
    $made = new ("Docket\\{$asked['run']}")(
        clientOf($asked),
        ...$options,
        handler: handlerOf($asked['run'], $options['uid'] ?? $options['juror'] ?? ''),
        backoff: $seconds === null ? null : fn () => $seconds,
        onError: $onError,
    );
    say(['ready' => true]);
    $made->run();
}

/** Reads until SIGTERM. */
function readAll(Subscription $events): void
{
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, fn () => $events->close());
    foreach ($events as $event) {
        say(['event' => $event]);
    }
}

function stream(array $asked): void
{
    $options = $asked['options'];
    $key = $options['ticketKey'] ?? null;
    unset($options['ticketKey']);
    // as a page gets tickets from its own backend, which has the key
    $ticketOf = function () use ($asked, $key): string {
        $http = new GuzzleHttp\Client(['headers' => ['authorization' => "Bearer $key"]]);
        $answer = $http->post("{$asked['client']['servers'][0]}/v1/stream-tickets");
        return json_decode((string) $answer->getBody(), true)['ticket'];
    };
    readAll(clientOf($asked)->stream(...$options, ticket: $key ? $ticketOf : null, onError: fn () => null));
}

function feed(array $asked): void
{
    readAll(clientOf($asked)->feed(...$asked['options'], onError: fn () => null));
}

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

/** Handles a request as a web server does. */
function serve($connection, array $options, Versions $versions): void
{
    $headers = [];
    while (($line = rtrim((string) fgets($connection))) !== '') {
        [$name, $value] = [...explode(': ', $line, 2), ''];
        $headers[strtolower($name)] = $value;
    }
    $body = (string) stream_get_contents($connection, (int) ($headers['content-length'] ?? 0));
    $handle = function (Callback $callback) use ($options): void {
        ['key' => $key, 'type' => $type, 'kind' => $kind, 'message' => $message] = (array) $callback;
        say(['began' => $key]);
        usleep((int) (($options['seconds'] ?? 0) * 1_000_000));
        if (begun($key) <= ($options['failures'] ?? 0)) {
            throw new RuntimeException('as asked');
        }
        $whole = $message['type'] === $type && $message[$kind] === $callback->item;
        say(['handled' => ['whole' => $whole] + (array) $callback]);
    };
    try {
        $received = Callback::receive($headers, $body, $options['secret'], $versions, $handle);
        [$status, $text] = [200, json_encode(['outcome' => $received->value])];
    } catch (Throwable $error) {
        [$status, $text] = [$error instanceof SignatureException ? 401 : 500, ''];
    }
    $length = strlen($text);
    fwrite($connection, "HTTP/1.1 $status OK\r\ncontent-length: $length\r\nconnection: close\r\n\r\n$text");
}

/** Handles each callback in a process of its own. */
function receive(array $asked): void
{
    $versions = new FileVersions($asked['options']['store'] ?? uniqid('versions-', true));
    $server = stream_socket_server('tcp://127.0.0.1:0');
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, fn () => exit(0));
    pcntl_signal(SIGCHLD, SIG_IGN);
    say(['url' => 'http://' . stream_socket_get_name($server, false)]);
    while (true) {
        $connection = @stream_socket_accept($server, 1);
        if ($connection !== false && pcntl_fork() === 0) {
            serve($connection, $asked['options'], $versions);
            exit(0);
        }
    }
}

try {
    while (($line = fgets(STDIN)) !== false) {
        $asked = json_decode($line, true);
        $run = isset($asked['call']) ? 'call' : $asked['run'];
        (in_array($run, ['call', 'stream', 'feed', 'receive'], true) ? $run : 'loop')($asked);
    }
} catch (Throwable $error) {
    say(['fatal' => shortName($error), 'text' => $error->getMessage()]);
    exit(3);
}
