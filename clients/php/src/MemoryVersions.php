<?php

declare(strict_types=1);

namespace Docket;

/** For tests, and for one process that lives on: what it knows is gone when its process ends. */
final class MemoryVersions implements Versions
{
    /** @var array<string, int> */
    private array $versions = [];

    public function last(string $key): ?int
    {
        return $this->versions[$key] ?? null;
    }

    public function keep(string $key, int $version): void
    {
        $this->versions[$key] = $version;
    }
}
