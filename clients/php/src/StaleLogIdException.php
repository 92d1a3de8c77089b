<?php

declare(strict_types=1);

namespace Docket;

/** A completion of what is not the user's last dispatch: it was returned meanwhile, or is somebody else's (S4.7). */
class StaleLogIdException extends HttpException
{
    /** @param ?string $current the log id of the dispatch that is with the user now; null where none is */
    public function __construct(string $detail, public readonly ?string $current)
    {
        parent::__construct(409, 'stale_log_id', $detail);
    }
}
