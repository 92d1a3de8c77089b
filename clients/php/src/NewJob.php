<?php

declare(strict_types=1);

namespace Docket;

final class NewJob implements \JsonSerializable
{
    /**
     * @param string $id yours
     * @param ?string $key names one add, so that a repeat of it is one run; made up where it is left out
     */
    public function __construct(
        public readonly string $topic,
        public readonly string $id,
        public readonly mixed $body,
        public readonly float $delay = 0,
        public readonly float $ttr = 60,
        public readonly int $priority = 1024,
        public readonly ?string $key = null,
    ) {
    }

    /** @return array<string, mixed> */
    public function jsonSerialize(): array
    {
        return [
            'topic' => $this->topic,
            'id' => $this->id,
            'delay' => $this->delay,
            'TTR' => $this->ttr,
            'body' => $this->body,
            'priority' => $this->priority,
            'key' => $this->key ?? bin2hex(random_bytes(16)),
        ];
    }
}
