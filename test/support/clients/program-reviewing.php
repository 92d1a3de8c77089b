<?php

// Reviews tickets with the PHP client as a test says: program-reviewing.php review|ticketCalls JSON

declare(strict_types=1);

require __DIR__ . '/program-common.php';

use Docket\Client;
use Docket\Context;
use Docket\Release;
use Docket\ReviewerLoop;
use Docket\Skip;
use Docket\Ticket;

$handler = function (Ticket $ticket, Context $context): array {
    say(['began' => $ticket->id, 'attempt' => $ticket->attempts, 'at' => microtime(true)]);
    $body = $ticket->body;
    if ($body['untilLost'] ?? false) {
        while (!$context->lost()) {
            usleep(50_000);
        }
        say(['lost' => $ticket->id]);
        return ['of' => $ticket->id];
    }
    usleep((int) (($body['seconds'] ?? 0) * 1_000_000));
    if ($ticket->attempts <= ($body['failures'] ?? 0)) {
        if ($body['fail'] === 'exit') {
            exit(1);
        }
        throw match ($body['fail']) {
            'skip' => new Skip('as asked'),
            'release' => new Release($body['delay']),
            default => new RuntimeException('as asked'),
        };
    }
    say(['ended' => $ticket->id]);
    return ['of' => $ticket->id];
};

$review = function (Client $client) use ($asked, $handler): void {
    $onError = fn (Throwable $error, ?Ticket $ticket) =>
        say(['error' => shortName($error), 'text' => $error->getMessage(), 'ticket' => $ticket?->id]);
    $loop = new ReviewerLoop(
        $client,
        $asked['queue'],
        $asked['reviewer'],
        $handler,
        skills: $asked['skills'] ?? [],
        concurrency: $asked['concurrency'] ?? 1,
        waitSeconds: $asked['waitSeconds'] ?? 1,
        backoff: isset($asked['backoffSeconds']) ? fn () => $asked['backoffSeconds'] : null,
        onError: $onError,
    );
    say(['ready' => true]);
    $loop->run();
};

$ticketCalls = function (Client $client) use ($asked): void {
    $queue = $asked['queue'];
    $tickets = $client->tickets;
    $id = fn (int|string $n) => "$queue-$n";
    $settings = $tickets->putQueue($queue, ['leaseSeconds' => 60, 'maxHeld' => 3]);
    $one = ['id' => $id(1), 'body' => ['a' => [1, 'ä', null]], 'priority' => 5];
    $added = [$tickets->add($queue, $one), $tickets->add($queue, $one)];
    $unnamed = $tickets->add($queue, ['body' => 'no id']);
    $mixed = $tickets->addMany($queue, [
        ['id' => $id(2), 'body' => null, 'priority' => 4],
        ['id' => 'not a name', 'body' => null],
        ['id' => $id(3), 'body' => null, 'priority' => 3],
    ]);

    $held = $tickets->claim($queue, 'rita', count: 2)->tickets;
    $renewed = $tickets->renew($held[1]);
    $decided = $tickets->decide($held[0], ['ok' => true], next: true);
    $again = $tickets->decide($held[0], ['ok' => true], next: true);
    $released = $tickets->release($held[1], reason: 'not mine', skip: true);
    $lost = raised(fn () => $tickets->renew($held[1]));
    $closed = raised(fn () => $tickets->decide($held[0], ['ok' => false]));
    $none = $tickets->claim($queue, 'rolf', skills: ['none'], count: 9);
    $empty = $tickets->claim("$queue-empty", 'rita');

    $tickets->change($id(3), ['requires' => ['math'], 'body' => 'changed']);
    $changed = $tickets->reprioritize($id(3), 9);
    $moved = $tickets->transfer($decided->next, "$queue-other", 'moved');
    $resolved = $tickets->resolve($id(2), 'no', 'known');
    $invalidated = $tickets->invalidate($unnamed->id, 'gone');
    $tickets->invalidate($unnamed->id, 'gone');
    $open = raised(fn () => $tickets->invalidate($id(1), 'late'));

    $bulk = array_map(fn (int $n) => ['id' => $id("bulk-$n"), 'body' => $n], range(0, 1004));
    $large = array_fill(0, 45, ['body' => str_repeat('x', 190_000)]);
    $bulkResults = $tickets->addMany("$queue-bulk", $bulk);
    $largeResults = $tickets->addMany("$queue-large", $large);
    $new = fn (array $results) => count(array_filter($results, fn ($result) => $result->httpStatus === 201));
    $listed = all($tickets->list(['queue' => "$queue-bulk", 'state' => 'waiting']));

    say([
        'settings' => $settings['maxHeld'],
        'added' => array_map(fn (Ticket $ticket) => [$ticket->id, $ticket->body], $added),
        'same' => $added[0]->version === $added[1]->version,
        'unnamed' => $unnamed->body,
        'mixed' => array_map(fn ($result) => [$result->id, $result->httpStatus], $mixed),
        'held' => array_map(fn (Ticket $ticket) => [$ticket->id, $ticket->resumed, $ticket->lease->reviewer], $held),
        'renewed' => $renewed >= $held[1]->lease->expiresAt,
        'decided' => [$decided->ticket->state, $decided->ticket->decision, $decided->next->id],
        'again' => $again->next->lease->token === $decided->next->lease->token,
        'released' => $released->state,
        'lost' => [shortName($lost), $lost->problem, $lost->reason, $lost->holder, gettype($lost->endedAt)],
        'closed' => [shortName($closed), $closed->problem, $closed->state, $closed->by, $closed->reason],
        'none' => [array_map(fn (Ticket $ticket) => $ticket->id, $none->tickets), $none->reasons],
        'empty' => [$empty->tickets, $empty->reasons['held'], $empty->retryAfterSeconds > 0],
        'changed' => [$changed->priority, $changed->requires, $changed->body],
        'moved' => [$moved->queue, $moved->state],
        'resolved' => [$resolved->state, $resolved->decision, $resolved->reason],
        'invalidated' => [$invalidated->state, $tickets->get($unnamed->id)->invalidation['reason']],
        'open' => [shortName($open), $open->state],
        'events' => array_column(all($tickets->events($id(1))), 'type'),
        'bulk' => $new($bulkResults),
        'inOrder' => array_column($bulkResults, 'id') === array_column($bulk, 'id'),
        'large' => $new($largeResults),
        'listed' => count(array_unique(array_column($listed, 'id'))),
        'conflict' => refusal(fn () => $tickets->add($queue, ['body' => 'other'] + $one)),
        'missing' => refusal(fn () => $tickets->get('nobody')),
        'key' => named(fn () => client($asked['servers'], 'wrong')->tickets->get($id(1))),
        'down' => named(fn () => client('http://127.0.0.1:1', retrySeconds: 0)->tickets->get($id(1))),
    ]);
};

run(compact('review', 'ticketCalls'));
