<?php

declare(strict_types=1);

namespace Docket;

/** What became of an audit's callback. */
final class CallbackOutcome
{
    /**
     * @param string $outcome `applied`, `expired`, `pending` while that isn't known, or `duplicate`
     * @param ?string $first of a duplicate: what became of the first
     */
    public function __construct(
        public readonly string $callbackId,
        public readonly string $outcome,
        public readonly ?string $first,
    ) {
    }
}
