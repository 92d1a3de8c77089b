<?php

declare(strict_types=1);

namespace Docket;

/** @internal */
final class Pause
{
    public const LONGEST = 5.0;

    /** Seconds; doubles from 0.1, and differs between callers, so that they don't come back all at once. */
    public static function after(int $failures): float
    {
        return self::jittered(min(self::LONGEST, 0.1 * 2 ** min($failures, 10)));
    }

    /** 1, 2, 4, … 300 seconds. */
    public static function doubling(int $failures): float
    {
        return min(300, 2 ** min($failures - 1, 20));
    }

    /** Between half and the whole of it. */
    public static function jittered(float $seconds): float
    {
        return $seconds * random_int(500, 1000) / 1000;
    }

    public static function sleep(float $seconds): void
    {
        usleep((int) round($seconds * 1_000_000));
    }
}
