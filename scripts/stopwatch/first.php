<?php

require __DIR__ . '/vendor/autoload.php';

$client = new Docket\Client(
    getenv('DOCKET_SERVERS'),
    fn () => new GuzzleHttp\Client(['timeout' => 15]),
    new GuzzleHttp\Psr7\HttpFactory(),
);
$client->tickets->add('stopwatch', ['id' => 'by-php', 'body' => ['text' => 'buy now']]);
$ticket = $client->tickets->claim('stopwatch', 'anna')->tickets[0];
echo $client->tickets->decide($ticket, ['remove' => true])->ticket->state;
