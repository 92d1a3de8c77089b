<?php

declare(strict_types=1);

namespace Docket;

/** What became of a callback. */
enum Received: string
{
    case Handled = 'handled';
    /** It, or a newer one of its item, was handled before. */
    case Repeated = 'repeated';
}
