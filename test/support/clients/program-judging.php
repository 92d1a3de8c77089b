<?php

// Judges cases with the PHP client as a test says: program-judging.php judge|caseCalls JSON

declare(strict_types=1);

require __DIR__ . '/program-common.php';

use Docket\Client;
use Docket\Context;
use Docket\CourtCase;
use Docket\Decline;
use Docket\JurorLoop;
use Docket\Skip;

$handler = function (CourtCase $case, Context $context) use ($asked): mixed {
    say(['began' => $case->id, 'invited' => $context->invited, 'at' => microtime(true)]);
    $body = $case->body;
    if ($body['untilLost'] ?? false) {
        while (!$context->lost()) {
            usleep(50_000);
        }
        say(['lost' => $case->id]);
        return 'buyer';
    }
    usleep((int) (($body['seconds'] ?? 0) * 1_000_000));
    if (isset($body['failures']) && begun("{$asked['juror']} $case->id") <= $body['failures']) {
        throw match ($body['fail']) {
            'skip' => new Skip('as asked'),
            'decline' => new Decline('as asked'),
            default => new RuntimeException('as asked'),
        };
    }
    say(['ended' => $case->id]);
    $option = $body['option'] ?? $asked['option'] ?? 'buyer';
    return isset($body['comment']) ? ['option' => $option, 'comment' => $body['comment']] : $option;
};

$judge = function (Client $client) use ($asked, $handler): void {
    $onError = fn (Throwable $error, ?CourtCase $case) =>
        say(['error' => shortName($error), 'text' => $error->getMessage(), 'case' => $case?->id]);
    $loop = new JurorLoop(
        $client,
        $asked['court'],
        $asked['juror'],
        $handler,
        pauseSeconds: $asked['pauseSeconds'] ?? 0.3,
        backoff: isset($asked['backoffSeconds']) ? fn () => $asked['backoffSeconds'] : null,
        onError: $onError,
    );
    say(['ready' => true]);
    $loop->run();
};

$caseCalls = function (Client $client) use ($asked): void {
    $court = $asked['court'];
    $cases = $client->cases;
    $id = fn (int $n) => "$court-$n";
    $settings = $cases->putCourt($court, ['votesToWin' => 2, 'overbook' => 1, 'leaseSeconds' => 60]);
    $upserted = $cases->putJurors($court, ['ada', ['id' => 'bob', 'person' => 'robert']]);
    $names = array_map(fn (int $n) => "j$n", range(0, 20_499));
    $replaced = $cases->putJurors($court, [...$names, 'ada', 'bob', 'party'], list: 'today');

    $one = ['id' => $id(1), 'parties' => [['id' => 'party']], 'body' => ['a' => [1, 'ä', null]]];
    $added = [$cases->add($court, $one), $cases->add($court, $one)];
    $unnamed = $cases->add($court, ['body' => 'no id']);
    $cases->invalidate($unnamed->id, 'gone');
    $invalidated = $cases->invalidate($unnamed->id, 'gone');

    $party = $cases->claim($court, 'party');
    $held = $cases->claim($court, 'ada')->case;
    $resumed = $cases->claim($court, 'ada')->case;
    $renewed = $cases->renew($held);
    $released = $cases->release($held);
    $lost = raised(fn () => $cases->renew($held));
    $anew = $cases->claim($court, 'ada')->case;
    $first = $cases->vote($anew, 'buyer', 'clear');
    $repeated = $cases->vote($anew, 'buyer', 'clear');
    $twice = $cases->claim($court, 'ada');
    $last = $cases->claim($court, 'bob')->case;
    $late = $cases->claim($court, 'j1')->case;
    $declined = refusal(fn () => $cases->decline($last));
    $decided = $cases->vote($last, 'buyer');
    $closed = raised(fn () => $cases->vote($late, 'seller'));

    $bodies = [['id' => $id(2), 'body' => null], ['id' => 'not a name', 'body' => null], ['body' => 3]];
    $many = $cases->addMany($court, $bodies);
    $skipped = $cases->claim($court, 'j2')->case;
    $cases->release($skipped, skip: true);

    say([
        'settings' => $settings['votesToWin'],
        'totals' => [$upserted, $replaced],
        'added' => array_map(fn (CourtCase $case) => [$case->id, $case->body], $added),
        'same' => $added[0]->version === $added[1]->version,
        'invalidated' => [$invalidated->state, $invalidated->endReason],
        'party' => [$party->case, $party->reasons['party']],
        'held' => [$held->id, $held->resumed, $resumed->resumed, $resumed->lease->token === $held->lease->token],
        'renewed' => $renewed >= $held->lease->expiresAt,
        'released' => $released->state,
        'lost' => [shortName($lost), $lost->problem, $lost->reason],
        'first' => [$first->counted, $first->case->state, $first->case->tally],
        'repeated' => $repeated->counted,
        'twice' => [$twice->case, $twice->reasons['voted']],
        'decided' => [$decided->counted, $decided->case->state, $decided->case->winner],
        'late' => [shortName($closed), $closed->problem, $closed->state],
        'declined' => $declined,
        'many' => array_map(fn ($result) => [gettype($result->id), $result->httpStatus], $many),
        'skipped' => $cases->claim($court, 'j2')->case?->id !== $skipped->id,
        'got' => $cases->get($id(1))->winner,
        'invitations' => all($cases->invitations('ada')),
        'missing' => refusal(fn () => $cases->get('nobody')),
        'option' => refusal(fn () => $cases->vote($skipped, 'nobody')),
        'noCourt' => refusal(fn () => $cases->add("$court-none", ['body' => null])),
    ]);
};

run(compact('judge', 'caseCalls'));
