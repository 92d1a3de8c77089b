<?php

declare(strict_types=1);

namespace Docket;

/** A job as it is handed out. `attempt` counts its hand-outs from 1; objects in `value` are arrays. */
final class Job
{
    public function __construct(
        public readonly string $id,
        public readonly mixed $value,
        public readonly string $topic,
        public readonly int $attempt,
        public readonly string $token,
    ) {
    }
}
