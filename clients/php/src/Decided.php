<?php

declare(strict_types=1);

namespace Docket;

final class Decided
{
    /** @param ?Ticket $next the reviewer's next one, where it was asked for and is there */
    public function __construct(public readonly Ticket $ticket, public readonly ?Ticket $next)
    {
    }
}
