<?php

declare(strict_types=1);

namespace Docket;

/** What a handler can ask while it runs. */
final class Context
{
    private bool $lost = false;

    /** @param resource $parent where the slot tells that the job is lost */
    public function __construct(private $parent)
    {
        stream_set_blocking($parent, false);
    }

    /** The job is no longer this consumer's: what the handler still does will not count. */
    public function lost(): bool
    {
        return $this->lost = $this->lost || (string) fread($this->parent, 1) !== '';
    }
}
