<?php

declare(strict_types=1);

namespace Docket;

/** The callback is not from who has the secret, or is too old. Answer 401. */
class SignatureException extends DocketException
{
}
