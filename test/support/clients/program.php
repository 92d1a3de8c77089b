<?php

// Does with the PHP client what a test says: program.php consume|produce|calls|pull|taskCalls JSON

declare(strict_types=1);

require __DIR__ . '/program-common.php';

use Docket\Bury;
use Docket\Client;
use Docket\Consumer;
use Docket\Context;
use Docket\Dispatch;
use Docket\Job;
use Docket\NewJob;
use Docket\Puller;
use Docket\Release;

$handler = function (Job $job, Context $context): void {
    say(['began' => $job->id, 'attempt' => $job->attempt, 'at' => microtime(true)]);
    if ($job->value['untilLost'] ?? false) {
        while (!$context->lost()) {
            usleep(50_000);
        }
        say(['lost' => $job->id]);
        return;
    }
    usleep((int) (($job->value['seconds'] ?? 0) * 1_000_000));
    if ($job->attempt <= ($job->value['failures'] ?? 0)) {
        if ($job->value['fail'] === 'exit') {
            exit(1);
        }
        throw match ($job->value['fail']) {
            'bury' => new Bury('as asked'),
            'release' => new Release($job->value['delay']),
            default => new RuntimeException('as asked'),
        };
    }
    say(['ended' => $job->id]);
};

$consume = function (Client $client) use ($asked, $handler): void {
    $onError = fn (Throwable $error, ?Job $job) =>
        say(['error' => shortName($error), 'text' => $error->getMessage(), 'job' => $job?->id]);
    $consumer = new Consumer(
        $client,
        $asked['topics'],
        $handler,
        concurrency: $asked['concurrency'] ?? 1,
        wait: $asked['waitSeconds'] ?? 2,
        onError: $onError,
    );
    say(['ready' => true]);
    $consumer->run();
};

$produce = function (Client $client) use ($asked): void {
    $job = fn (int $n) => new NewJob($asked['topic'], $asked['prefix'] . $n, $asked['value'], ttr: $asked['TTR'] ?? 60);
    $results = $client->addMany(array_map($job, range(0, $asked['count'] - 1)));
    say(['added' => count(array_filter($results, fn ($result) => $result->success))]);
};

$calls = function (Client $client) use ($asked): void {
    ['topic' => $topic, 'id' => $id, 'body' => $body] = $asked['job'];
    $mixed = [new NewJob($topic, 'fine', $body), new NewJob('..', 'bad', $body)];
    say([
        'added' => [$client->add($topic, $id, $body), $client->add($topic, $id, $body)],
        'peeked' => $client->peek(id: $id),
        'next' => $client->peek(topic: $topic)?->id,
        'got' => $client->get($id)['id'],
        'unknown' => $client->peek(id: 'nobody'),
        'conflict' => named(fn () => $client->add($topic, $id, 'other')),
        'invalid' => named(fn () => $client->add('..', $id, $body)),
        'deleted' => array_map(fn ($of) => named(fn () => $client->delete($of)), [$id, $id, 'nobody']),
        'mixed' => array_column($client->addMany($mixed), 'success'),
        'key' => named(fn () => client($asked['servers'], 'wrong')->peek(id: $id)),
        'down' => named(fn () => client('http://127.0.0.1:1', retrySeconds: 0)->peek(id: $id)),
        'missing' => named(fn () => $client->get('nobody')),
    ]);
};

$pulled = function (Dispatch $dispatch): mixed {
    ['taskId' => $taskId, 'logId' => $logId, 'redo' => $redo] = (array) $dispatch;
    say(['began' => $taskId, 'logId' => $logId, 'redo' => $redo, 'at' => microtime(true)]);
    $fail = $dispatch->params['fail'] ?? null;
    $failing = begun($taskId) <= ($dispatch->params['failures'] ?? 0);
    if ($failing || $fail === null) {
        usleep((int) (($dispatch->params['seconds'] ?? 0) * 1_000_000));
    }
    if ($failing && $fail === 'exit') {
        exit(1);
    }
    if ($failing && $fail === 'error') {
        throw new RuntimeException('as asked');
    }
    if ($failing && $fail === 'unsayable') {
        return NAN;
    }
    if ($failing && $fail === 'large') {
        return str_repeat('x', 300_000);
    }
    say(['ended' => $taskId]);
    return ['of' => $taskId, 'empty' => new stdClass()];
};

$pull = function (Client $client) use ($asked, $pulled): void {
    $onError = fn (Throwable $error, ?Dispatch $dispatch) =>
        say(['error' => shortName($error), 'text' => $error->getMessage(), 'task' => $dispatch?->taskId]);
    $puller = new Puller(
        $client,
        $asked['uid'],
        $pulled,
        exclude: $asked['exclude'] ?? [],
        wait: $asked['waitSeconds'] ?? 2,
        backoff: isset($asked['backoffSeconds']) ? fn () => $asked['backoffSeconds'] : null,
        stuckAfter: $asked['stuckAfter'] ?? 5,
        onError: $onError,
    );
    say(['ready' => true]);
    $puller->run();
};

$taskCalls = function (Client $client) use ($asked): void {
    ['uid' => $uid, 'template' => $template, 'task' => $task, 'later' => $later] = $asked;
    $client->addTemplate($template['id'], $template['params']);
    $client->addTemplate($template['id'], $template['params']);
    $client->putGroup($asked['gid'], [$uid]);
    $ids = array_map(fn ($of) => $client->addTask($of['id'], $of)['id'], [$task, $task, $later]);
    $first = $client->next($uid)->dispatch;
    $again = $client->next($uid)->dispatch;
    $stale = raised(fn () => $client->complete($uid, 'lt_other'));
    $completedAt = $client->complete($uid, $first->logId, ['done' => [1, 'ä', null]]);
    $last = $client->next($uid, [$later['id']], 0.2);
    say([
        'ids' => $ids,
        'first' => ['taskId' => $first->taskId, 'params' => $first->params, 'redo' => $first->redo],
        'same' => $again->logId === $first->logId && $again->occurrence === $first->occurrence,
        'redo' => $again->redo,
        'stale' => shortName($stale),
        'current' => $stale->current === $first->logId,
        'repeated' => $client->complete($uid, $first->logId, ['done' => [1, 'ä', null]]) === $completedAt,
        'settled' => refusal(fn () => $client->complete($uid, $first->logId, 'other')),
        'last' => $last,
        'conflict' => refusal(fn () => $client->addTask($task['id'], ['dispatchTimes' => 9] + $task)),
        'mismatch' => refusal(fn () => $client->addTask('mismatch', ['params' => ['address' => 1]] + $task)),
        'key' => refusal(fn () => client($asked['servers'], 'wrong')->next($uid)),
        'down' => refusal(fn () => client('http://127.0.0.1:1', retrySeconds: 0)->next($uid)),
    ]);
};

run(compact('consume', 'produce', 'calls', 'pull', 'taskCalls'));
