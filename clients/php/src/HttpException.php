<?php

declare(strict_types=1);

namespace Docket;

/** The server answered with a 4xx: a repeat would get the same. */
class HttpException extends DocketException
{
    /** @param ?string $problem the server's error code */
    public function __construct(public readonly int $status, public readonly ?string $problem, string $detail)
    {
        parent::__construct("$status: $detail");
    }

    /**
     * What a 4xx is, by its status and what it says of itself.
     *
     * @param ?array<string, mixed> $answer
     */
    public static function of(int $status, string $detail, ?array $answer): self
    {
        $problem = $answer['code'] ?? null;
        return match (true) {
            $problem === 'stale_log_id' => new StaleLogIdException($detail, $answer['current'] ?? null),
            $status === 401, $status === 403 => new AuthException($status, $problem, $detail),
            default => new self($status, $problem, $detail),
        };
    }
}
