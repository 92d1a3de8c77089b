<?php

declare(strict_types=1);

namespace Docket;

/** A completion of what is not the user's last dispatch: it was returned meanwhile, or is someone else's (S4.7). */
class StaleLogIdException extends HttpException
{
    /** The log id of the dispatch that is with the user now; null where none is. */
    public readonly ?string $current;

    /** @param array<string, mixed> $answer */
    public function __construct(string $detail, array $answer)
    {
        parent::__construct(409, 'stale_log_id', $detail, $answer);
        $this->current = (new Fields($answer))->textOrNull('current');
    }
}
