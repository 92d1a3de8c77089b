<?php

declare(strict_types=1);

namespace Docket;

/** A hold that the system gave to a juror, who may decline it. */
final class Invitation implements Held
{
    /** @param string $id the case's */
    public function __construct(
        public readonly string $id,
        public readonly string $court,
        public readonly Lease $lease,
    ) {
    }

    public function id(): string
    {
        return $this->id;
    }

    public function token(): string
    {
        return $this->lease->token ?? throw new \InvalidArgumentException("the invitation to $this->id has no token");
    }
}
