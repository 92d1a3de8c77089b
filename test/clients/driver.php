<?php

// Does with the PHP client what a test asks for, a line of JSON each on standard input: driver.ts says how.

declare(strict_types=1);

require __DIR__ . '/vendor/autoload.php';

use Docket\Callback;
use Docket\Client;
use Docket\Context;
use Docket\NewJob;
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
        $value = $name === 'receive'
            ? receive(...$named)
            : array_reduce($names, $step, clientOf($asked))->$name(...$args, ...$named);
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
                'bury' => throw new Docket\Bury($plan['text'] ?? 'as asked'),
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

/** Versions that outlive the program. */
final class FileVersions implements Versions
{
    public function __construct(private string $file)
    {
    }

    public function last(string $key): ?int
    {
        return is_file($this->file) ? json_decode(file_get_contents($this->file), true)[$key] ?? null : null;
    }

    public function keep(string $key, int $version): void
    {
        file_put_contents($this->file, json_encode([$key => $version]));
    }
}

/** Receives a callback so many times. Here they come one after the other: others would be in other processes. */
function receive(
    array $headers,
    string $body,
    string|array $secret,
    int $times = 1,
    int $failures = 0,
    ?string $store = null,
): array {
    static $memory;
    $memory ??= new Docket\MemoryVersions();
    $handle = function (Callback $callback) use ($failures): void {
        ['key' => $key, 'type' => $type, 'kind' => $kind, 'message' => $message] = (array) $callback;
        say(['began' => $key]);
        if (begun($key) <= $failures) {
            throw new RuntimeException('as asked');
        }
        $whole = $message['type'] === $type && $message[$kind] === $callback->item;
        say(['handled' => ['whole' => $whole] + (array) $callback]);
    };
    $versions = $store === null ? $memory : new FileVersions($store);
    $received = fn () => Callback::receive($headers, $body, $secret, $versions, $handle)->value;
    return array_map($received, range(1, $times));
}

try {
    while (($line = fgets(STDIN)) !== false) {
        $asked = json_decode($line, true);
        $run = isset($asked['call']) ? 'call' : $asked['run'];
        (in_array($run, ['call', 'stream', 'feed'], true) ? $run : 'loop')($asked);
    }
} catch (Throwable $error) {
    say(['fatal' => shortName($error), 'text' => $error->getMessage()]);
    exit(3);
}
