<?php

declare(strict_types=1);

namespace Docket;

final class TicketClaim
{
    /**
     * @param list<Ticket> $tickets
     * @param ?array<string, int> $reasons where there are none: counts of what is not for the reviewer
     * @param float $retryAfterSeconds when there may be some
     */
    public function __construct(
        public readonly array $tickets,
        public readonly ?array $reasons,
        public readonly float $retryAfterSeconds,
    ) {
    }
}
