<?php

declare(strict_types=1);

namespace Docket;

/** Thrown by a handler: another juror is to be invited instead. Of a case that was claimed it is a `Skip`. */
class Decline extends \RuntimeException
{
}
