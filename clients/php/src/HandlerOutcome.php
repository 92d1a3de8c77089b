<?php

declare(strict_types=1);

namespace Docket;

/**
 * What came of a handler, as its process told it at its end.
 *
 * @internal
 */
final class HandlerOutcome
{
    private const DIED = 'its process ended before its handler did';

    private function __construct(private readonly \stdClass $told)
    {
    }

    /** Objects of the result stay objects, so that an empty one remains one. */
    public static function of(string $said): self
    {
        $told = json_decode($said);
        return new self($told instanceof \stdClass ? $told : (object) ['failure' => self::DIED]);
    }

    /** Null: it has returned. */
    public function failure(): ?string
    {
        $failure = $this->told->failure ?? null;
        return is_string($failure) ? $failure : null;
    }

    /** Whether it asked for this by what it threw. */
    public function asks(string $for): bool
    {
        return ($this->told->$for ?? null) === true;
    }

    /** Seconds, where it threw a `Release`. */
    public function delay(): ?float
    {
        $delay = $this->told->delay ?? null;
        return is_int($delay) || is_float($delay) ? (float) $delay : null;
    }

    /** What it returned. */
    public function result(): mixed
    {
        return $this->told->result ?? null;
    }
}
