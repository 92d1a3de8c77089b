<?php

declare(strict_types=1);

namespace Docket;

/** The token isn't live: the job was handed to somebody else, finished or deleted. */
class LeaseLostException extends RefusedException
{
}
