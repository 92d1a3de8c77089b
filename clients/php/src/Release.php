<?php

declare(strict_types=1);

namespace Docket;

/** Thrown by a handler: give this back, ready again after so many seconds. */
class Release extends \RuntimeException
{
    public function __construct(public readonly float $delay = 0, string $message = 'released by its handler')
    {
        parent::__construct($message);
    }
}
