<?php

declare(strict_types=1);

namespace Docket;

/** Reviews whose text, pictures and replies audits give their statuses, as `$client->reviews`. */
final class Reviews
{
    /** @internal */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * Creates or edits a review: what the author has written.
     *
     * @param array<string, mixed> $review `text`, `pictures`, `replies`, `body`, `callback`, as in the API
     * @return array<string, mixed> the review with the statuses that audits gave it
     */
    public function put(string $id, array $review): array
    {
        return $this->transport->call('PUT', Transport::path('/v1/reviews/%s', $id), $review);
    }

    /**
     * What an audit said about the text, a picture or a reply.
     *
     * @param string $kind text, picture or reply
     * @param ?string $targetId of a picture or reply
     * @param ?string $auditTime when it was said, ISO 8601; null: when it arrives
     * @param ?string $callbackId the same a second time on this review is a duplicate; null: the client makes one, so
     *     that a repeat of this call is none
     * @param float $waitSeconds for how long to wait for what becomes of it
     */
    public function callback(
        string $id,
        string $kind,
        int $status,
        ?string $targetId = null,
        ?string $auditTime = null,
        ?string $callbackId = null,
        float $waitSeconds = 0,
    ): CallbackOutcome {
        $path = Transport::path('/v1/reviews/%s/callbacks', $id);
        $said = ['kind' => $kind, 'targetId' => $targetId, 'auditTime' => $auditTime];
        return $this->send($path, $status, $waitSeconds, $callbackId, $said);
    }

    /**
     * Several at once, all of them or none.
     *
     * @param list<array<string, mixed>> $callbacks `kind`, `status`, `targetId`, `auditTime`, `callbackId`
     * @return list<CallbackOutcome> in the same order
     */
    public function callbacks(string $id, array $callbacks, float $waitSeconds = 0): array
    {
        $named = array_map(fn (array $one) => $one + ['callbackId' => Batches::newId()], $callbacks);
        $body = ['callbacks' => $named, 'waitSeconds' => $waitSeconds];
        $answer = new Fields($this->transport->call('POST', Transport::path('/v1/reviews/%s/callbacks', $id), $body));
        $isNamed = fn (array $one): bool => isset($one['callbackId']);
        return array_map(self::outcome(...), $answer->objects('results'), array_map($isNamed, $callbacks));
    }

    /** The same about a picture of whichever review. */
    public function pictureCallback(
        string $pictureId,
        int $status,
        ?string $auditTime = null,
        ?string $callbackId = null,
        float $waitSeconds = 0,
    ): CallbackOutcome {
        $path = Transport::path('/v1/pictures/%s/callbacks', $pictureId);
        return $this->send($path, $status, $waitSeconds, $callbackId, ['auditTime' => $auditTime]);
    }

    /** @return array<string, mixed> */
    public function get(string $id): array
    {
        return $this->transport->call('GET', Transport::path('/v1/reviews/%s', $id));
    }

    /**
     * What became of every callback and edit, oldest first.
     *
     * @return \Generator<int, array<string, mixed>>
     */
    public function log(string $id): \Generator
    {
        return $this->transport->pages(Transport::path('/v1/reviews/%s/log', $id));
    }

    /** @param array<string, ?string> $said */
    private function send(
        string $path,
        int $status,
        float $waitSeconds,
        ?string $callbackId,
        array $said,
    ): CallbackOutcome {
        $body = ['status' => $status, 'waitSeconds' => $waitSeconds, 'callbackId' => $callbackId ?? Batches::newId()];
        $body += array_filter($said, fn (?string $value) => $value !== null);
        return self::outcome(new Fields($this->transport->call('POST', $path, $body)), $callbackId !== null);
    }

    private static function outcome(Fields $answer, bool $isNamed): CallbackOutcome
    {
        $outcome = $answer->text('outcome');
        $first = $answer->fieldsOrNull('first')?->text('outcome');
        // no one else has an id that was made here: the first try had got through
        return !$isNamed && $outcome === 'duplicate'
            ? new CallbackOutcome($answer->text('callbackId'), $first ?? $outcome, null)
            : new CallbackOutcome($answer->text('callbackId'), $outcome, $first);
    }
}
