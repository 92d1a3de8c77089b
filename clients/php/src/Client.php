<?php

declare(strict_types=1);

namespace Docket;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/** Docket over HTTP. Every call goes to the next server when one fails, and may safely be sent twice. */
final class Client
{
    use TaskCalls;

    public readonly Tickets $tickets;
    public readonly Cases $cases;
    public readonly Reviews $reviews;

    /**
     * @param string|list<string> $servers `http://host:port` of each, the preferred one first
     * @param \Closure(): ClientInterface $http makes a PSR-18 client; called once in each process. Its time-out has
     *     to be longer than a consumer's long polls
     * @param RequestFactoryInterface&StreamFactoryInterface $messages PSR-17
     * @param float $retrySeconds how long a call is repeated while no server answers
     * @param bool $discover ask the servers which others there are; for servers whose HOST is an address that
     *     clients can reach
     * @param ?\Closure(): ClientInterface $streams makes another one, which gives bodies while they come, for `stream`
     *     and for a `feed` that is followed
     */
    public function __construct(
        string|array $servers,
        \Closure $http,
        RequestFactoryInterface&StreamFactoryInterface $messages,
        ?string $apiKey = null,
        float $retrySeconds = 30,
        bool $discover = false,
        ?\Closure $streams = null,
    ) {
        $wire = new Wire($http, $streams, $messages, $apiKey);
        $this->transport = new Transport($servers, $wire, $retrySeconds, $discover);
        $this->tickets = new Tickets($this->transport);
        $this->cases = new Cases($this->transport);
        $this->reviews = new Reviews($this->transport);
    }

    /** @return list<string> in the order in which they are tried, those found by `discover` included */
    public function servers(): array
    {
        return $this->transport->servers();
    }

    /**
     * Adds a job; where the one of this id is over, its next run.
     *
     * @return bool false: it was there already, with the same content
     * @throws RefusedException when the id stands for another job, or a value is wrong
     */
    public function add(
        string $topic,
        string $id,
        mixed $body,
        float $delay = 0,
        float $ttr = 60,
        int $priority = 1024,
        ?string $key = null,
    ): bool {
        $job = new NewJob($topic, $id, $body, $delay, $ttr, $priority, $key);
        return $this->command('add', $job->jsonSerialize())->any('already') !== true;
    }

    /**
     * Any number of jobs; each succeeds or fails by itself, in the order given.
     *
     * @param iterable<NewJob> $jobs
     * @return list<AddResult>
     */
    public function addMany(iterable $jobs): array
    {
        $results = [];
        $rows = array_map(static fn (NewJob $job): array => $job->jsonSerialize(), [...$jobs]);
        foreach (Batches::of($rows) as $part) {
            $answer = $this->call('add', ['jobs' => $part]);
            if ($answer->any('results') === null) {
                throw new RefusedException($answer->all);
            }
            foreach ($answer->objects('results') as $result) {
                $error = $result->textOrNull('error');
                $results[] = new AddResult($result->textOrNull('id'), $result->flag('success'), $error);
            }
        }
        return $results;
    }

    /** Ends a job in any state. Deleting it again is no error. */
    public function delete(string $id): void
    {
        $this->command('delete', ['id' => $id]);
    }

    /** Looks at a job, or at the next one of a topic, and changes nothing. */
    public function peek(?string $id = null, ?string $topic = null): ?PeekedJob
    {
        if (($id === null) === ($topic === null)) {
            throw new \InvalidArgumentException('give either id or topic');
        }
        $answer = $this->call('peek', $id === null ? ['topic' => $topic] : ['id' => $id]);
        if (!$answer->flag('success') && $answer->any('code') !== 'not_found') {
            throw new RefusedException($answer->all);
        }
        $found = $answer->textOrNull('id');
        return $answer->flag('success') && $found !== null
            ? new PeekedJob($found, $answer->any('value'), $answer->text('topic'), $answer->text('state'))
            : null;
    }

    /** @return array<string, mixed> all about a job, in whatever state it is */
    public function get(string $id): array
    {
        return $this->transport->call('GET', '/v1/jobs/' . rawurlencode($id));
    }

    /**
     * Reserves the next job. `Consumer` does this and all that follows.
     *
     * @param string|list<string> $topic
     */
    public function pop(string|array $topic, float $wait = 0, ?float $retrySeconds = null): ?Job
    {
        $answer = $this->command('pop', ['topic' => $topic, 'wait' => $wait], $retrySeconds);
        $id = $answer->textOrNull('id');
        return $id === null ? null : new Job(
            $id,
            $answer->any('value'),
            $answer->text('topic'),
            $answer->whole('attempt'),
            $answer->text('token'),
        );
    }

    /** @throws LeaseLostException when the token isn't live; once more with the same token is no error */
    public function finish(Job $job): void
    {
        $this->command('finish', ['id' => $job->id, 'token' => $job->token]);
    }

    /** A full TTR again. */
    public function touch(Job $job, ?float $retrySeconds = null): void
    {
        $this->command('touch', ['id' => $job->id, 'token' => $job->token], $retrySeconds);
    }

    /** Gives it back; the reason is shown as the job's `lastReason`. */
    public function release(Job $job, float $delay = 0, ?int $priority = null, ?string $reason = null): void
    {
        $more = array_filter(['priority' => $priority, 'reason' => $reason], static fn ($value) => $value !== null);
        $this->handBack('release', ['id' => $job->id, 'token' => $job->token, 'delay' => $delay, ...$more]);
    }

    /** Sets it aside until it is kicked. */
    public function bury(Job $job, ?string $reason = null): void
    {
        $more = $reason === null ? [] : ['reason' => $reason];
        $this->handBack('bury', ['id' => $job->id, 'token' => $job->token, ...$more]);
    }

    /**
     * Events for one of these as they come: `lease_lost`, `changed` and `invited` for a person, also `available` and
     * `stats` for a queue. With none of them, for whose key it is.
     *
     * @param ?string $lastEventId the id of an event: goes on behind it, if that is not long ago
     * @param ?\Closure(): string $ticket gets a stream ticket for each connection, where this client has no key
     * @param ?\Closure(\Throwable): void $onError told of what went wrong and is being dealt with
     */
    public function stream(
        ?string $reviewer = null,
        ?string $queue = null,
        ?string $juror = null,
        ?string $lastEventId = null,
        ?\Closure $ticket = null,
        ?\Closure $onError = null,
    ): EventStream {
        $of = ['reviewer' => $reviewer, 'queue' => $queue, 'juror' => $juror];
        return new EventStream($this->transport, $of, $lastEventId, $ticket, $onError);
    }

    /**
     * All events of all kinds, in one order.
     *
     * @param int $after the position behind which to read
     * @param bool $follow false: ends with the last one that there is
     * @param ?\Closure(\Throwable): void $onError told of what went wrong and is being dealt with
     */
    public function feed(int $after = 0, bool $follow = false, ?\Closure $onError = null): Feed
    {
        return new Feed($this->transport, $after, $follow, $onError);
    }

    /** @param array<string, mixed> $fields */
    private function handBack(string $command, array $fields): void
    {
        try {
            $this->command($command, $fields);
        } catch (LeaseLostException $error) {
            // a repeat: the first try has already ended the token's lease, which is what was wanted
            if ($error->reason !== 'released') {
                throw $error;
            }
        }
    }

    /** @param array<string, mixed> $fields */
    private function command(string $command, array $fields, ?float $retrySeconds = null): Fields
    {
        $answer = $this->call($command, $fields, $retrySeconds);
        if ($answer->flag('success')) {
            return $answer;
        }
        throw in_array($answer->any('code'), ['lease_lost', 'not_open'], true)
            ? new LeaseLostException($answer->all)
            : new RefusedException($answer->all);
    }

    /** @param array<string, mixed> $fields */
    private function call(string $command, array $fields, ?float $retrySeconds = null): Fields
    {
        $body = ['command' => $command, ...$fields];
        return new Fields($this->transport->call('POST', '/v1/jobs', $body, $retrySeconds));
    }
}
