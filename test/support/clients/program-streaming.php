<?php

// Reads events with the PHP client as a test says: program-streaming.php stream|feed JSON

declare(strict_types=1);

require __DIR__ . '/program-common.php';

use Docket\Client;
use Docket\Subscription;

/** Reads until SIGTERM. */
function readAll(Subscription $events, Closure $line): void
{
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, fn () => $events->close());
    foreach ($events as $event) {
        say($line($event));
    }
}

/** As a page gets tickets from its own backend, which has the key. */
$ticketOf = function () use ($asked): string {
    $http = new GuzzleHttp\Client(['headers' => ['authorization' => "Bearer {$asked['ticketKey']}"]]);
    $answer = $http->post(((array) $asked['servers'])[0] . '/v1/stream-tickets');
    return json_decode((string) $answer->getBody(), true)['ticket'];
};

$stream = function (Client $client) use ($asked, $ticketOf): void {
    $of = array_intersect_key($asked, array_flip(['reviewer', 'queue', 'juror', 'lastEventId']));
    $ticket = isset($asked['ticketKey']) ? $ticketOf : null;
    $quiet = fn () => null;
    readAll($client->stream(...$of, ticket: $ticket, onError: $quiet), fn ($event) => ['event' => $event]);
};

$feed = function (Client $client) use ($asked): void {
    $feed = $client->feed($asked['after'], $asked['follow'], fn () => null);
    readAll($feed, fn ($event) => ['seq' => $event->seq, 'event' => $event]);
};

run(compact('stream', 'feed'));
