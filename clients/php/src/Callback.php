<?php

declare(strict_types=1);

namespace Docket;

/** A callback as it was sent; objects are arrays. */
final class Callback
{
    /**
     * @param string $id the same for each try to send it
     * @param string $type `ticket.decided`, `review.changed`, `job`, …
     * @param string $kind ticket, case, review, job or task
     * @param string $key what its versions are of: mostly the item
     * @param array<string, mixed> $item
     * @param array<string, mixed> $message all of it, with `reason`, `result`, `juror` where there are such
     */
    public function __construct(
        public readonly string $id,
        public readonly string $type,
        public readonly int $version,
        public readonly string $kind,
        public readonly string $itemId,
        public readonly string $key,
        public readonly array $item,
        public readonly array $message,
    ) {
    }

    /**
     * Takes a signed callback: drops what is repeated or older than what was handled, and has the rest handled, each
     * version of an item once.
     *
     * @param array<int|string, string|list<string>> $headers as of `getallheaders` or a PSR-7 request
     * @param string $body as it came, byte by byte
     * @param string|list<string> $secret several while they are being rotated
     * @param \Closure(Callback): void $handle what it throws is thrown, and the callback is to be sent again: answer 500
     * @throws SignatureException when it is not from who has the secret, or is too old: answer 401
     * @throws \InvalidArgumentException when it is signed, but no callback of Docket
     */
    public static function receive(
        array $headers,
        string $body,
        string|array $secret,
        Versions $versions,
        \Closure $handle,
    ): Received {
        $callback = self::of(Signature::check($headers, $body, array_values((array) $secret)), $body);
        $last = $versions->last($callback->key) ?? 0;
        // a job has a version for each hand-out, and comes again when an answer was lost: it is done once
        if ($last >= $callback->version || $last > 0 && $callback->kind === 'job') {
            return Received::Repeated;
        }
        $handle($callback);
        $versions->keep($callback->key, $callback->version);
        return Received::Handled;
    }

    private static function of(string $id, string $body): self
    {
        try {
            $message = new Fields(Fields::objectOf(json_decode($body, true)) ?? []);
            $type = $message->text('type');
            $kind = explode('.', $type)[0];
            $item = $message->fields($kind);
            [$itemId, $key] = self::names($type, $kind, $item, $message);
            return new self($id, $type, $message->whole('version'), $kind, $itemId, $key, $item->all, $message->all);
        } catch (DocketException $error) {
            throw new \InvalidArgumentException("this is no callback of Docket: {$error->getMessage()}", 0, $error);
        }
    }

    /** @return array{string, string} the item's id, and what its versions are of */
    private static function names(string $type, string $kind, Fields $item, Fields $message): array
    {
        $id = $item->text('id');
        return match (true) {
            // each juror of a round has the same version
            $type === 'case.invited' => [$id, "case/$id/{$message->text('juror')}"],
            $kind === 'task' => [$id, "task/$id/{$item->text('occurrence')}"],
            // the id of a job that is long gone may be used again
            $kind === 'job' => [$id, "job/{$item->whole('number')}"],
            in_array($kind, ['ticket', 'case', 'review'], true) => [$id, "$kind/$id"],
            default => throw new DocketException("nothing is known of the type $type"),
        };
    }
}
