<?php

declare(strict_types=1);

namespace Docket;

/** 401 or 403: the key is missing, wrong, or of a role that may not do this. */
class AuthException extends HttpException
{
}
