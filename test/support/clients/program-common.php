<?php

// What the programs with the PHP client have in common: their arguments, a client, lines of JSON.

declare(strict_types=1);

require __DIR__ . '/vendor/autoload.php';

use Docket\Client;

$asked = json_decode($argv[2], true);

function say(array $line): void
{
    fwrite(STDOUT, json_encode($line) . "\n");
}

function client(string|array $servers, ?string $key = null, float $retrySeconds = 30, bool $discover = false): Client
{
    return new Client(
        $servers,
        fn () => new GuzzleHttp\Client(['connect_timeout' => 3, 'timeout' => 15]),
        new GuzzleHttp\Psr7\HttpFactory(),
        $key,
        $retrySeconds,
        $discover,
        fn () => new GuzzleHttp\Client(['connect_timeout' => 3, 'timeout' => 15, 'stream' => true]),
    );
}

function shortName(Throwable $error): string
{
    return str_replace('Exception', '', (new ReflectionClass($error))->getShortName());
}

/** What a call throws. */
function raised(Closure $call): ?Throwable
{
    try {
        $call();
        return null;
    } catch (Throwable $error) {
        return $error;
    }
}

/** The name of the error that a call throws. */
function named(Closure $call): ?string
{
    $error = raised($call);
    return $error === null ? null : shortName($error);
}

/** The same, and the code with it. */
function refusal(Closure $call): string
{
    $error = raised($call);
    return trim(shortName($error) . ' ' . ($error->problem ?? ''));
}

/** All that an iterator gives. */
function all(iterable $items): array
{
    return iterator_to_array($items, false);
}

/** How often the handler of something has been begun, this time too, by whatever process. */
function begun(string $id): int
{
    $file = sha1($id) . '.begun';
    file_put_contents($file, '.', FILE_APPEND | LOCK_EX);
    clearstatcache();
    return filesize($file);
}

/** Runs the program that was asked for. */
function run(array $programs): void
{
    global $argv, $asked;
    try {
        $of = [$asked['servers'] ?? 'http://127.0.0.1:1', $asked['apiKey'] ?? null, $asked['retrySeconds'] ?? 30];
        $programs[$argv[1]](client(...[...$of, $asked['discover'] ?? false]));
    } catch (Throwable $error) {
        say(['fatal' => shortName($error), 'text' => $error->getMessage()]);
        exit(3);
    }
}
