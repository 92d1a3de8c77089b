<?php

declare(strict_types=1);

namespace Docket;

/** @internal */
final class Batches
{
    /** Half of what the server takes. */
    private const MANY_BYTES = 4 * 1024 * 1024;

    /**
     * Cuts a list into what one call takes.
     *
     * @template T
     * @param iterable<T> $entries
     * @return \Generator<int, non-empty-list<T>>
     */
    public static function of(iterable $entries, int $many = 1000): \Generator
    {
        $part = [];
        $bytes = 0;
        foreach ($entries as $entry) {
            $size = strlen(json_encode($entry, JSON_THROW_ON_ERROR));
            if (count($part) === $many || ($part !== [] && $bytes + $size > self::MANY_BYTES)) {
                yield $part;
                $part = [];
                $bytes = 0;
            }
            $part[] = $entry;
            $bytes += $size;
        }
        if ($part !== []) {
            yield $part;
        }
    }

    /**
     * Entries of a batch, each with an id: one that the server made would be another one when the call is repeated.
     *
     * @param iterable<array<string, mixed>> $entries
     * @return \Generator<int, array<string, mixed>>
     */
    public static function named(iterable $entries): \Generator
    {
        foreach ($entries as $entry) {
            yield ['id' => self::newId(), ...$entry];
        }
    }

    /** No one else has it. */
    public static function newId(): string
    {
        return bin2hex(random_bytes(16));
    }
}
