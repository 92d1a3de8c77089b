<?php

declare(strict_types=1);

namespace Docket;

/** Cases before courts of jurors, as `$client->cases`. */
final class Cases
{
    private const MANY_JURORS = 20_000;

    private readonly Items $items;

    /** @internal */
    public function __construct(private readonly Transport $transport)
    {
        $this->items = new Items($transport, '/v1/cases/%s', '/v1/courts/%s', 'cases');
    }

    /**
     * Replaces all settings of a court, named as in the API; what is left out has its default.
     *
     * @param array<string, mixed> $settings
     * @return array<string, mixed>
     */
    public function putCourt(string $court, array $settings = []): array
    {
        return $this->transport->call('PUT', $this->items->of($court), $settings);
    }

    /**
     * Adds or changes jurors; with `list`, replaces all of the court's by these, at once when the last have come.
     *
     * @param iterable<string|array<string, mixed>> $jurors ids, or `id`, `person`, `eligible`, `invite`
     * @param ?string $list names this upload; two at the same time need two names
     * @return int how many the court has then
     */
    public function putJurors(string $court, iterable $jurors, ?string $list = null): int
    {
        $objects = [];
        foreach ($jurors as $juror) {
            $objects[] = is_string($juror) ? ['id' => $juror] : $juror;
        }
        $parts = [...Batches::of($objects, self::MANY_JURORS)];
        $last = max(0, count($parts) - 1);
        $total = 0;
        foreach ($parts ?: [[]] as $n => $part) {
            $named = $list === null ? [] : ['list' => $list, 'first' => $n === 0, 'final' => $n === $last];
            $answer = $this->transport->call('PUT', $this->items->of($court, '/jurors'), ['jurors' => $part] + $named);
            $total = (new Fields($answer))->whole('total');
        }
        return $total;
    }

    /**
     * Adds a case, its fields named as in the API, or finds it with the same content.
     *
     * @param array<string, mixed> $case with an `id` of yours it may be added twice without harm, whoever does it
     * @throws HttpException with problem `id_conflict` when the id stands for other content
     */
    public function add(string $court, array $case): CourtCase
    {
        return CourtCase::of($this->items->add($court, $case));
    }

    /**
     * Any number of cases; each succeeds or fails by itself, in the order given.
     *
     * @param iterable<array<string, mixed>> $cases
     * @return list<BatchResult>
     */
    public function addMany(string $court, iterable $cases): array
    {
        return $this->items->addMany($court, $cases);
    }

    public function get(string $id): CourtCase
    {
        return CourtCase::of($this->items->call('GET', $id, '', null));
    }

    /**
     * Hands a juror a case: one that they hold, an invitation too, else a new one. `JurorLoop` does this and all that
     * follows.
     *
     * @param ?string $juror null: whose key it is
     */
    public function claim(string $court, ?string $juror = null, ?float $retrySeconds = null): CaseClaim
    {
        $body = $juror === null ? [] : ['juror' => $juror];
        $answer = new Fields($this->transport->call('POST', $this->items->of($court, '/claim'), $body, $retrySeconds));
        $case = $answer->fieldsOrNull('case');
        return new CaseClaim(
            $case === null ? null : CourtCase::of($case, Lease::of($answer->fields('lease')), $answer->flag('resumed')),
            $answer->countsOrNull('reasons'),
        );
    }

    /**
     * Votes on a case that the juror holds; once more with the same vote is no error.
     *
     * @throws LeaseLostException
     * @throws NotOpenException when it was decided meanwhile
     * @throws HttpException with problem `already_voted`, `conflict_of_interest`, `forbidden` or `invalid_request`
     */
    public function vote(Held $case, string $option, ?string $comment = null, ?float $retrySeconds = null): Vote
    {
        $body = ['token' => $case->token(), 'option' => $option] + ($comment === null ? [] : ['comment' => $comment]);
        $answer = $this->items->call('POST', $case->id(), '/votes', $body, $retrySeconds);
        return new Vote($answer->flag('counted'), CourtCase::of($answer->fields('case')));
    }

    /**
     * A full lease again.
     *
     * @return string until when
     * @throws LeaseLostException|NotOpenException
     */
    public function renew(Held $case, ?float $retrySeconds = null): string
    {
        $token = ['token' => $case->token()];
        return $this->items->call('POST', $case->id(), '/renew', $token, $retrySeconds)->text('expiresAt');
    }

    /**
     * Gives it back.
     *
     * @param bool $skip never offer it to this juror again
     * @throws LeaseLostException|NotOpenException
     */
    public function release(Held $case, bool $skip = false, ?float $retrySeconds = null): CourtCase
    {
        $body = ['token' => $case->token(), 'skip' => $skip];
        return CourtCase::of($this->items->call('POST', $case->id(), '/release', $body, $retrySeconds));
    }

    /**
     * Refuses an invitation: another juror is invited instead.
     *
     * @throws LeaseLostException|NotOpenException
     * @throws HttpException with problem `invalid_request` for a case that was claimed
     */
    public function decline(Held $case, ?float $retrySeconds = null): CourtCase
    {
        $token = ['token' => $case->token()];
        return CourtCase::of($this->items->call('POST', $case->id(), '/decline', $token, $retrySeconds));
    }

    /**
     * No one needs to judge it any more; who holds it loses it.
     *
     * @throws NotOpenException
     */
    public function invalidate(string $id, string $reason): CourtCase
    {
        return CourtCase::of($this->items->call('POST', $id, '/invalidate', ['reason' => $reason]));
    }

    /**
     * Appeals against a verdict: a second case for jurors who have not voted on it; once more, the same one.
     *
     * @throws HttpException with problem `not_final` or `already_open`
     */
    public function appeal(string $id, ?string $reason = null, ?string $by = null): CourtCase
    {
        $body = array_filter(['cause' => 'appeal', 'reason' => $reason, 'by' => $by], fn ($value) => $value !== null);
        return CourtCase::of($this->items->call('POST', $id, '/looks', $body));
    }

    /**
     * A juror's open invitations, newest first: one in a court at most.
     *
     * @return \Generator<int, Invitation>
     */
    public function invitations(string $juror): \Generator
    {
        foreach ($this->transport->pages(Transport::path('/v1/jurors/%s/invitations', $juror)) as $item) {
            $of = new Fields($item);
            yield new Invitation($of->text('case'), $of->text('court'), Lease::of($of));
        }
    }

    /** @internal How long a hold of the court lasts, in seconds. */
    public function leaseSeconds(string $court, bool $invited): float
    {
        $settings = new Fields($this->transport->call('GET', $this->items->of($court), null, 0));
        $assign = $invited ? $settings->fieldsOrNull('assign') : null;
        return $assign?->number('answerSeconds') ?? $settings->number('leaseSeconds');
    }
}
