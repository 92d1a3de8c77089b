<?php

declare(strict_types=1);

namespace Docket;

/**
 * Which version of each item was handled last. Where several processes receive callbacks, `last` has to keep others who
 * ask for the same key waiting until `keep` counts: with SQL, by a lock on its row until the transaction ends.
 */
interface Versions
{
    /** Null, or 0, where nothing was handled. */
    public function last(string $key): ?int;

    public function keep(string $key, int $version): void;
}
