<?php

declare(strict_types=1);

namespace Docket;

/** Moderation tickets: queues that reviewers claim from, as `$client->tickets`. */
final class Tickets
{
    private readonly Items $items;

    /** @internal */
    public function __construct(private readonly Transport $transport)
    {
        $this->items = new Items($transport, '/v1/tickets/%s', '/v1/queues/%s', 'tickets');
    }

    /**
     * Replaces all settings of a queue, named as in the API; what is left out has its default.
     *
     * @param array<string, mixed> $settings
     * @return array<string, mixed>
     */
    public function putQueue(string $queue, array $settings = []): array
    {
        return $this->transport->call('PUT', $this->items->of($queue), $settings);
    }

    /**
     * Adds a ticket, its fields named as in the API, or finds it with the same content.
     *
     * @param array<string, mixed> $ticket with an `id` of yours it may be added twice without harm, whoever does it
     * @throws HttpException with problem `id_conflict` when the id stands for other content
     */
    public function add(string $queue, array $ticket): Ticket
    {
        return Ticket::of($this->items->add($queue, $ticket));
    }

    /**
     * Any number of tickets; each succeeds or fails by itself, in the order given.
     *
     * @param iterable<array<string, mixed>> $tickets
     * @return list<BatchResult>
     */
    public function addMany(string $queue, iterable $tickets): array
    {
        return $this->items->addMany($queue, $tickets);
    }

    public function get(string $id): Ticket
    {
        return Ticket::of($this->items->call('GET', $id, '', null));
    }

    /**
     * Its whole history, oldest first: `seq`, `type`, `actor`, `at`, `data`.
     *
     * @return \Generator<int, array<string, mixed>>
     */
    public function events(string $id): \Generator
    {
        return $this->transport->pages($this->items->at($id, '/events'));
    }

    /**
     * Newest first, or by the filter `order: oldest`.
     *
     * @param array<string, string> $filter `queue`, `state`, `reviewer`, `subject`, `createdAfter`, `createdBefore`
     * @return \Generator<int, Ticket>
     */
    public function list(array $filter = []): \Generator
    {
        foreach ($this->transport->pages('/v1/tickets', $filter) as $ticket) {
            yield Ticket::of(new Fields($ticket));
        }
    }

    /**
     * Decides a ticket from outside, in whatever open state it is; who holds it loses it.
     *
     * @throws NotOpenException
     */
    public function resolve(string $id, mixed $decision, string $reason): Ticket
    {
        return Ticket::of($this->items->call('POST', $id, '/resolve', ['decision' => $decision, 'reason' => $reason]));
    }

    /**
     * No one needs to decide it any more; who holds it loses it.
     *
     * @throws NotOpenException
     */
    public function invalidate(string $id, string $reason): Ticket
    {
        return Ticket::of($this->items->call('POST', $id, '/invalidate', ['reason' => $reason]));
    }

    /**
     * Asks for a second look at a decision, which nobody who decided before is handed. The same call again has the same
     * look.
     *
     * @param string $cause `appeal`, `check` or `overturn`, which is decided at once, with `$decision`
     */
    public function look(
        string $id,
        string $cause,
        ?string $by = null,
        ?string $reason = null,
        ?int $priority = null,
        mixed $decision = null,
    ): Ticket {
        $body = ['cause' => $cause] + array_filter(['by' => $by, 'reason' => $reason, 'priority' => $priority], fn ($value) => $value !== null);
        $body += $cause === 'overturn' ? ['decision' => $decision] : [];
        return Ticket::of($this->items->call('POST', $id, '/looks', $body));
    }

    /**
     * How well a queue's tickets were decided in a time, by each person and model.
     *
     * @return array<int, mixed>
     */
    public function quality(string $queue, ?string $from = null, ?string $to = null): array
    {
        $query = http_build_query(['from' => $from, 'to' => $to]);
        $answer = $this->transport->call('GET', $this->items->of($queue, "/quality?$query"), null);
        return (array) $answer['items'];
    }

    /**
     * Decides all open tickets of a subject.
     *
     * @param array<string, string> $filter `subject`, and where it is wanted `queue`, `state`
     * @param bool $dryRun only count them
     * @return array<string, mixed> `resolved`, `skipped`
     */
    public function resolveAll(array $filter, mixed $decision, string $reason, bool $dryRun = false): array
    {
        $body = ['filter' => $filter, 'decision' => $decision, 'reason' => $reason, 'dryRun' => $dryRun];
        return $this->transport->call('POST', '/v1/tickets/resolve', $body);
    }

    /**
     * The same: no one needs to decide them any more.
     *
     * @param array<string, string> $filter
     * @return array<string, mixed> `invalidated`, `skipped`
     */
    public function invalidateAll(array $filter, string $reason, bool $dryRun = false): array
    {
        $body = ['filter' => $filter, 'reason' => $reason, 'dryRun' => $dryRun];
        return $this->transport->call('POST', '/v1/tickets/invalidate', $body);
    }

    /**
     * Changes an open ticket, also while it is held.
     *
     * @param array<string, mixed> $changes `priority`, `body`, `subject`, `requires`, `exclude`, `deadlineAt`: one at least
     * @throws NotOpenException
     */
    public function change(string $id, array $changes): Ticket
    {
        return Ticket::of($this->items->call('PATCH', $id, '', $changes));
    }

    /** @throws NotOpenException */
    public function reprioritize(string $id, int $priority): Ticket
    {
        return $this->change($id, ['priority' => $priority]);
    }

    /**
     * Moves an open ticket to another queue; its lease ends.
     *
     * @param Ticket|string $ticket one that the caller holds; an id: as an operator, whoever holds it
     * @throws LeaseLostException|NotOpenException
     */
    public function transfer(Ticket|string $ticket, string $queue, ?string $reason = null): Ticket
    {
        $body = ['queue' => $queue] + self::optional(['reason' => $reason]);
        return $this->handled($ticket, '/transfer', $body);
    }

    /**
     * Hands out what the reviewer holds in the queue, then new tickets. `ReviewerLoop` does this for one queue, and all
     * that follows.
     *
     * @param string|list<string> $queue several in order of preference
     * @param ?string $reviewer null: whose key it is
     * @param list<string> $skills
     * @param int $count how many the reviewer holds at most after it
     * @param float $waitSeconds how long to wait for one to come; less than the HTTP client's time-out
     */
    public function claim(
        string|array $queue,
        ?string $reviewer = null,
        array $skills = [],
        int $count = 1,
        float $waitSeconds = 0,
        ?float $retrySeconds = null,
    ): TicketClaim {
        $body = ['skills' => $skills, 'count' => $count, 'waitSeconds' => $waitSeconds];
        $body += self::optional(['reviewer' => $reviewer]);
        $body += is_array($queue) ? ['queues' => $queue] : [];
        $path = is_array($queue) ? '/v1/claim' : $this->items->of($queue, '/claim');
        $answer = new Fields($this->transport->call('POST', $path, $body, $retrySeconds));
        return new TicketClaim(
            array_map(Ticket::of(...), $answer->objects('tickets')),
            $answer->countsOrNull('reasons'),
            $answer->number('retryAfterSeconds'),
        );
    }

    /**
     * A full lease again.
     *
     * @return string until when
     * @throws LeaseLostException|NotOpenException
     */
    public function renew(Ticket $ticket, ?float $retrySeconds = null): string
    {
        $token = ['token' => $ticket->token()];
        return $this->items->call('POST', $ticket->id, '/renew', $token, $retrySeconds)->text('expiresAt');
    }

    /**
     * Decides a ticket that the caller holds; once more with the same decision is no error.
     *
     * @param bool $next also claim the reviewer's next new ticket
     * @param list<string> $skills for the next one
     * @param list<string> $queues where to look for the next one; none: in the ticket's
     * @param ?int $version of the ticket as it was seen
     * @throws LeaseLostException|NotOpenException
     * @throws HttpException with problem `invalid_request` when the decision doesn't fit the queue's form, `changed` when
     *     the ticket's body or requirements have changed after that version
     * @throws \JsonException for a decision that JSON can't say
     */
    public function decide(
        Ticket $ticket,
        mixed $decision,
        bool $next = false,
        array $skills = [],
        ?float $retrySeconds = null,
        array $queues = [],
        ?int $version = null,
    ): Decided {
        $body = ['token' => $ticket->token(), 'decision' => $decision, 'next' => $next, 'skills' => $skills];
        $body += ['queues' => $queues] + self::optional(['version' => $version]);
        $answer = $this->items->call('POST', $ticket->id, '/decide', $body, $retrySeconds);
        $following = $answer->fieldsOrNull('next');
        return new Decided(
            Ticket::of($answer->fields('ticket')),
            $following === null ? null : Ticket::of($following),
            $answer->whole('synced'),
        );
    }

    /**
     * Keeps what the holder has filled in of a decision; it comes again with the lease.
     *
     * @throws LeaseLostException|NotOpenException
     */
    public function putDraft(Ticket $ticket, mixed $draft): void
    {
        $this->items->call('PUT', $ticket->id, '/draft', ['token' => $ticket->token(), 'draft' => $draft]);
    }

    /**
     * A reviewer's own draft, until a day after their lease.
     *
     * @param ?string $reviewer null: whose key it is
     * @return ?array<string, mixed> `draft`, `at`
     */
    public function getDraft(string $id, ?string $reviewer = null): ?array
    {
        $what = Transport::query('/draft', ['reviewer' => $reviewer]);
        return $this->items->call('GET', $id, $what, null)->all ?: null;
    }

    /**
     * A model's work list: tickets that have no suggestion of it, in the order of the queue.
     *
     * @param ?string $model null: whose key it is
     * @param float $waitSeconds how long to wait for one to come; less than the HTTP client's time-out
     * @return list<Ticket>
     */
    public function unsuggested(string $queue, ?string $model = null, float $waitSeconds = 0, int $limit = 50): array
    {
        $query = self::optional(['model' => $model]) + ['waitSeconds' => $waitSeconds, 'limit' => $limit];
        $answer = $this->transport->call('GET', Transport::query($this->items->of($queue, '/unsuggested'), $query));
        return array_map(Ticket::of(...), (new Fields($answer))->objects('items'));
    }

    /**
     * What a model would decide, once for each ticket; the same again is no error.
     *
     * @param float $confidence from 0 to 1
     * @param ?string $model null: whose key it is
     * @param ?int $version of the ticket as it was seen
     * @return array<string, mixed> `model`, `decision`, `confidence`, `reasons`
     * @throws NotOpenException
     * @throws HttpException with problem `invalid_request` when it doesn't fit the queue's form, `id_conflict` when the model
     *     has suggested something else
     */
    public function suggest(
        string $id,
        mixed $decision,
        float $confidence,
        ?string $model = null,
        mixed $reasons = null,
        ?int $version = null,
    ): array {
        $body = ['decision' => $decision, 'confidence' => $confidence];
        $body += self::optional(['model' => $model, 'reasons' => $reasons, 'version' => $version]);
        return $this->items->call('POST', $id, '/suggestions', $body)->all;
    }

    /**
     * Gives it back.
     *
     * @param Ticket|string $ticket one that the caller holds; an id: an operator takes it from whoever holds it
     * @param bool $skip never offer it to this reviewer again
     * @throws LeaseLostException|NotOpenException
     */
    public function release(
        Ticket|string $ticket,
        float $delaySeconds = 0,
        ?string $reason = null,
        bool $skip = false,
        ?float $retrySeconds = null,
    ): Ticket {
        $body = ['delaySeconds' => $delaySeconds, 'skip' => $skip] + self::optional(['reason' => $reason]);
        return $this->handled($ticket, '/release', $body, $retrySeconds);
    }

    /** @internal How long a lease of the queue is, in seconds. */
    public function leaseSeconds(string $queue): float
    {
        return (new Fields($this->transport->call('GET', $this->items->of($queue), null, 0)))->number('leaseSeconds');
    }

    /** @param array<string, mixed> $body */
    private function handled(Ticket|string $ticket, string $what, array $body, ?float $retrySeconds = null): Ticket
    {
        if ($ticket instanceof Ticket) {
            $body['token'] = $ticket->token();
        }
        $id = $ticket instanceof Ticket ? $ticket->id : $ticket;
        return Ticket::of($this->items->call('POST', $id, $what, $body, $retrySeconds));
    }

    /**
     * @param array<string, mixed> $fields
     * @return array<string, mixed> those that were given
     */
    private static function optional(array $fields): array
    {
        return array_filter($fields, fn (mixed $value) => $value !== null);
    }
}
