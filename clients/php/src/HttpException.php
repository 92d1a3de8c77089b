<?php

declare(strict_types=1);

namespace Docket;

/** The server answered with a 4xx: a repeat would get the same. */
class HttpException extends DocketException
{
    /** @param ?string $problem the server's error code */
    public function __construct(public readonly int $status, public readonly ?string $problem, string $detail)
    {
        parent::__construct("$status: $detail");
    }
}
