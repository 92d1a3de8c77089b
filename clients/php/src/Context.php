<?php

declare(strict_types=1);

namespace Docket;

/** What a handler can ask while it runs. */
final class Context
{
    private readonly int $parent;
    private bool $lost = false;

    /**
     * @internal
     * @param resource $line where the process that keeps the lease alive tells that it is lost
     * @param bool $invited the case is an invitation, which may be declined
     */
    public function __construct(private $line, public readonly bool $invited = false)
    {
        $this->parent = posix_getppid();
        stream_set_blocking($line, false);
    }

    /** It is no longer the caller's, or no one is left to send the outcome: what the handler still does won't count. */
    public function lost(): bool
    {
        $told = (string) fread($this->line, 1) !== '';
        return $this->lost = $this->lost || $told || posix_getppid() !== $this->parent;
    }
}
