<?php

declare(strict_types=1);

namespace Docket;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/** Jobs and tasks over HTTP. Every call goes to the next server when one fails, and may safely be sent twice. */
final class Client
{
    private const MANY_JOBS = 1000;
    /** Half of what the server takes. */
    private const MANY_BYTES = 4 * 1024 * 1024;

    private readonly Transport $transport;

    /**
     * @param string|list<string> $servers `http://host:port` of each, the preferred one first
     * @param \Closure(): ClientInterface $http makes a PSR-18 client; called once in each process. Its time-out has
     *     to be longer than a consumer's long polls
     * @param RequestFactoryInterface&StreamFactoryInterface $messages PSR-17
     * @param float $retrySeconds how long a call is repeated while no server answers
     * @param bool $discover ask the servers which others there are; for servers whose HOST is an address that
     *     clients can reach
     */
    public function __construct(
        string|array $servers,
        \Closure $http,
        RequestFactoryInterface&StreamFactoryInterface $messages,
        ?string $apiKey = null,
        float $retrySeconds = 30,
        bool $discover = false,
    ) {
        $this->transport = new Transport($servers, $http, $messages, $apiKey, $retrySeconds, $discover);
    }

    /** @return list<string> in the order in which they are tried, those found by `discover` included */
    public function servers(): array
    {
        return $this->transport->servers();
    }

    /**
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
    ): bool {
        $job = new NewJob($topic, $id, $body, $delay, $ttr, $priority);
        return ($this->command('add', $job->jsonSerialize())['already'] ?? false) !== true;
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
        foreach (self::parts($jobs) as $part) {
            $answer = $this->call('add', ['jobs' => $part]);
            if (!isset($answer['results'])) {
                throw new RefusedException($answer);
            }
            foreach ($answer['results'] as $result) {
                $results[] = new AddResult($result['id'], $result['success'], $result['error']);
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
        if (!$answer['success'] && ($answer['code'] ?? null) !== 'not_found') {
            throw new RefusedException($answer);
        }
        return $answer['success'] && $answer['id'] !== null
            ? new PeekedJob($answer['id'], $answer['value'], $answer['topic'], $answer['state'])
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
        return $answer['id'] === null
            ? null
            : new Job($answer['id'], $answer['value'], $answer['topic'], $answer['attempt'], $answer['token']);
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

    /** Gives it back. */
    public function release(Job $job, float $delay = 0, ?int $priority = null): void
    {
        $more = $priority === null ? [] : ['priority' => $priority];
        $this->handBack('release', ['id' => $job->id, 'token' => $job->token, 'delay' => $delay, ...$more]);
    }

    /** Sets it aside until it is kicked. */
    public function bury(Job $job): void
    {
        $this->handBack('bury', ['id' => $job->id, 'token' => $job->token]);
    }

    /**
     * Keeps what tasks' params must look like, as `['address' => ['type' => 'string']]` (S4.1). The same again is no
     * error.
     *
     * @param array<string, array<string, mixed>> $params
     */
    public function addTemplate(string $id, array $params, ?string $name = null): void
    {
        $this->transport->call('POST', '/v1/templates', [
            'id' => $id,
            'name' => $name ?? $id,
            'params' => (object) $params,
        ]);
    }

    /**
     * Replaces a group's members; it counts from their next pull on (S4.3).
     *
     * @param list<string> $members
     */
    public function putGroup(string $gid, array $members): void
    {
        $this->transport->call('PUT', '/v1/groups/' . rawurlencode($gid), ['members' => array_values($members)]);
    }

    /**
     * Adds a task, its fields named as in the API, or finds it with the same content.
     *
     * @param string $id yours and unique: it is what makes a repeat harmless
     * @param array<string, mixed> $task
     * @return array<string, mixed>
     * @throws HttpException with problem `template_mismatch`, `limit_reached`, `id_conflict` or `invalid_request`
     */
    public function addTask(string $id, array $task): array
    {
        $params = (object) ($task['params'] ?? []);
        return $this->transport->call('POST', '/v1/tasks', ['id' => $id, 'params' => $params] + $task);
    }

    /**
     * A user's unfinished dispatch again, or the next one that is due for the user or a group (S4.5). `Puller` does
     * this and all that follows.
     *
     * @param list<string> $exclude
     */
    public function next(
        string $uid,
        array $exclude = [],
        float $wait = 0,
        ?float $retrySeconds = null,
    ): NextDispatch {
        $body = ['exclude' => array_values($exclude), 'waitSeconds' => $wait];
        $path = '/v1/clients/' . rawurlencode($uid) . '/next';
        return NextDispatch::of($this->transport->call('POST', $path, $body, $retrySeconds));
    }

    /**
     * Completes a dispatch; once more with the same result is no error.
     *
     * @return string the instant at which it was completed
     * @throws StaleLogIdException when it isn't the user's last one (S4.7)
     * @throws HttpException with problem `lease_lost` when it was completed with another result
     * @throws \JsonException for a result that JSON can't say
     */
    public function complete(string $uid, string $logId, mixed $result = null): string
    {
        $path = '/v1/clients/' . rawurlencode($uid) . '/complete';
        return $this->transport->call('POST', $path, ['logId' => $logId, 'result' => $result])['completedAt'];
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

    /**
     * @param array<string, mixed> $fields
     * @return array<string, mixed>
     */
    private function command(string $command, array $fields, ?float $retrySeconds = null): array
    {
        $answer = $this->call($command, $fields, $retrySeconds);
        if ($answer['success']) {
            return $answer;
        }
        throw in_array($answer['code'] ?? null, ['lease_lost', 'not_open'], true)
            ? new LeaseLostException($answer)
            : new RefusedException($answer);
    }

    /**
     * @param array<string, mixed> $fields
     * @return array<string, mixed>
     */
    private function call(string $command, array $fields, ?float $retrySeconds = null): array
    {
        return $this->transport->call('POST', '/v1/jobs', ['command' => $command, ...$fields], $retrySeconds);
    }

    /**
     * Cuts a list into what one call takes.
     *
     * @param iterable<NewJob> $jobs
     * @return iterable<list<NewJob>>
     */
    private static function parts(iterable $jobs): iterable
    {
        $part = [];
        $bytes = 0;
        foreach ($jobs as $job) {
            $size = strlen(json_encode($job, JSON_THROW_ON_ERROR));
            if (count($part) === self::MANY_JOBS || ($part !== [] && $bytes + $size > self::MANY_BYTES)) {
                yield $part;
                $part = [];
                $bytes = 0;
            }
            $part[] = $job;
            $bytes += $size;
        }
        if ($part !== []) {
            yield $part;
        }
    }
}
