<?php

declare(strict_types=1);

namespace Docket;

/** Thrown by a handler: set this job aside until someone kicks it. */
class Bury extends \RuntimeException
{
}
