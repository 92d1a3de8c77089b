<?php

declare(strict_types=1);

namespace Docket;

final class Lease
{
    /**
     * @param ?string $token null where it is another's
     * @param ?string $grantedAt null for cases
     * @param ?string $reviewer null for cases
     * @param mixed $draft what its holder has filled in of a decision; for the holder only
     */
    public function __construct(
        public readonly ?string $token,
        public readonly string $expiresAt,
        public readonly ?string $grantedAt = null,
        public readonly ?string $reviewer = null,
        public readonly mixed $draft = null,
    ) {
    }

    /** @internal */
    public static function of(Fields $of): self
    {
        return new self(
            $of->textOrNull('token'),
            $of->text('expiresAt'),
            $of->textOrNull('grantedAt'),
            $of->textOrNull('reviewer'),
            $of->any('draft'),
        );
    }
}
