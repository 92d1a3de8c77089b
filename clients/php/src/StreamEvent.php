<?php

declare(strict_types=1);

namespace Docket;

final class StreamEvent
{
    /**
     * @param string $type `lease_lost`, `changed`, `invited`, `available` or `stats`
     * @param array<string, mixed> $data
     * @param ?string $id behind which a stream can go on
     */
    public function __construct(
        public readonly string $type,
        public readonly array $data,
        public readonly ?string $id,
    ) {
    }
}
