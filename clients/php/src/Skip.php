<?php

declare(strict_types=1);

namespace Docket;

/** Thrown by a handler: give this ticket or case back, and never offer it to this person again. */
class Skip extends \RuntimeException
{
}
