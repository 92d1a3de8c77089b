<?php

declare(strict_types=1);

namespace Docket;

/** No server answered, for as long as the call was repeated. `getPrevious()` is the last failure. */
class UnavailableException extends DocketException
{
}
