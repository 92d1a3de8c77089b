<?php

declare(strict_types=1);

namespace Docket;

/** Everything this package throws. */
class DocketException extends \RuntimeException
{
}
