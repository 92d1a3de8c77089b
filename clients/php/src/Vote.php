<?php

declare(strict_types=1);

namespace Docket;

final class Vote
{
    /** @param bool $counted false: it came too late, and was kept */
    public function __construct(public readonly bool $counted, public readonly CourtCase $case)
    {
    }
}
