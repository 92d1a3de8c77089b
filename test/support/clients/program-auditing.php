<?php

// Keeps reviews with the PHP client as a test says: program-auditing.php reviewCalls|audit JSON

declare(strict_types=1);

require __DIR__ . '/program-common.php';

use Docket\Client;

$reviewCalls = function (Client $client) use ($asked): void {
    $prefix = $asked['prefix'];
    $reviews = $client->reviews;
    $id = "$prefix-review";
    $pictures = array_map(fn (int $n) => ['id' => "$prefix-picture-$n", 'status' => 0], [1, 2]);
    $body = ['a' => [1, 'ä', null]];
    $put = $reviews->put($id, ['text' => ['status' => 0], 'pictures' => $pictures, 'body' => $body]);
    $text = $reviews->callback($id, 'text', 5, waitSeconds: 10);
    $expired = $reviews->callback($id, 'text', 4, auditTime: '2020-01-01T00:00:00.000Z', waitSeconds: 10);
    $named = fn () => $reviews->callback($id, 'picture', 6, $pictures[0]['id'], callbackId: 'mine', waitSeconds: 10);
    [$applied, $duplicate] = [$named(), $named()];
    $picture = $reviews->pictureCallback($pictures[1]['id'], 7, waitSeconds: 10);
    for ($n = 0; $n < 100; $n++) {
        $reviews->callback($id, 'text', $n);
    }
    $last = $reviews->callback($id, 'text', 100, waitSeconds: 10);
    $edited = $reviews->put($id, ['text' => ['status' => 1], 'pictures' => [$pictures[1]]]);
    $log = all($reviews->log($id));
    say([
        'put' => [$put['id'], $put['status'], $put['body']],
        'text' => [$text->outcome, $text->callbackId !== ''],
        'expired' => $expired->outcome,
        'applied' => $applied->outcome,
        'duplicate' => [$duplicate->outcome, $duplicate->first],
        'picture' => $picture->outcome,
        'last' => $last->outcome,
        'edited' => [$edited['status'], array_column($edited['pictures'], 'status')],
        'got' => $reviews->get($id)['version'] === $edited['version'],
        'log' => [count($log), end($log)['kind'], count(array_unique(array_column($log, 'seq')))],
        'missing' => refusal(fn () => $reviews->callback('nobody', 'text', 1)),
        'invalid' => refusal(fn () => $reviews->callback($id, 'picture', 1)),
    ]);
};

$audit = function (Client $client) use ($asked): void {
    $outcomes = [];
    for ($status = 1; $status <= $asked['count']; $status++) {
        $outcomes[] = $client->reviews->callback($asked['review'], 'text', $status, waitSeconds: 10)->outcome;
    }
    say(['outcomes' => $outcomes]);
};

run(compact('reviewCalls', 'audit'));
