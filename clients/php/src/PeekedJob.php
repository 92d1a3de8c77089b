<?php

declare(strict_types=1);

namespace Docket;

/** `state`: delayed, ready, reserved, buried, finished or deleted. */
final class PeekedJob
{
    public function __construct(
        public readonly string $id,
        public readonly mixed $value,
        public readonly string $topic,
        public readonly string $state,
    ) {
    }
}
