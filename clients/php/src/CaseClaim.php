<?php

declare(strict_types=1);

namespace Docket;

final class CaseClaim
{
    /** @param ?array<string, int> $reasons where there is none: counts of what is not for the juror */
    public function __construct(public readonly ?CourtCase $case, public readonly ?array $reasons)
    {
    }
}
