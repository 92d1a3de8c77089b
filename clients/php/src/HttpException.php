<?php

declare(strict_types=1);

namespace Docket;

/** The server answered with a 4xx: a repeat would get the same. */
class HttpException extends DocketException
{
    /**
     * @param ?string $problem the server's error code
     * @param array<string, mixed> $answer all that the server said, such as `errors` of an `invalid_request`
     */
    public function __construct(
        public readonly int $status,
        public readonly ?string $problem,
        public readonly string $detail,
        public readonly array $answer = [],
    ) {
        parent::__construct("$status: $detail");
    }

    /**
     * What a 4xx is, by its status and what it says of itself.
     *
     * @param array<string, mixed> $answer
     */
    public static function of(int $status, string $detail, array $answer): self
    {
        $problem = is_string($answer['code'] ?? null) ? $answer['code'] : null;
        return match (true) {
            $problem === 'stale_log_id' => new StaleLogIdException($detail, $answer),
            $status === 401, $status === 403 => new AuthException($status, $problem, $detail, $answer),
            default => new self($status, $problem, $detail, $answer),
        };
    }
}
