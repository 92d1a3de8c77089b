<?php

declare(strict_types=1);

namespace Docket;

/**
 * Calls about tasks, as `$client->next` and so on.
 *
 * @internal
 */
trait TaskCalls
{
    private readonly Transport $transport;

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
     * Changes a template; tasks keep the version that they were made with.
     *
     * @param array{name?: string, params?: array<string, array<string, mixed>>} $change
     */
    public function changeTemplate(string $id, array $change): void
    {
        $params = isset($change['params']) ? ['params' => (object) $change['params']] : [];
        $this->transport->call('PATCH', Transport::path('/v1/templates/%s', $id), $params + $change);
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
        return NextDispatch::of(new Fields($this->transport->call('POST', $path, $body, $retrySeconds)));
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
        $answer = $this->transport->call('POST', $path, ['logId' => $logId, 'result' => $result]);
        return (new Fields($answer))->text('completedAt');
    }

    /**
     * Gives a user's last dispatch back, for others to take; once more is no error.
     *
     * @param ?string $logId null, by an operator: whatever the user has
     * @return string the instant at which it was given back
     * @throws StaleLogIdException when it is completed, or isn't the user's last one
     */
    public function releaseTask(string $uid, ?string $logId = null, ?string $reason = null): string
    {
        $body = array_filter(['logId' => $logId, 'reason' => $reason], fn (?string $value) => $value !== null);
        $answer = $this->transport->call('POST', Transport::path('/v1/clients/%s/release', $uid), $body);
        return (new Fields($answer))->text('releasedAt');
    }
}
