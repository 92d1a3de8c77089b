<?php

declare(strict_types=1);

namespace Docket;

/** What someone holds: a ticket, a case, an invitation. */
interface Held
{
    public function id(): string;

    /** @throws \InvalidArgumentException where it is not held, or not by the caller */
    public function token(): string;
}
