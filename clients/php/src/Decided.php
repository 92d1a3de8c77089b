<?php

declare(strict_types=1);

namespace Docket;

final class Decided
{
    /**
     * @param ?Ticket $next the reviewer's next one, where it was asked for and is there
     * @param int $synced how many others of its subject were decided with it
     */
    public function __construct(
        public readonly Ticket $ticket,
        public readonly ?Ticket $next,
        public readonly int $synced = 0,
    ) {
    }
}
