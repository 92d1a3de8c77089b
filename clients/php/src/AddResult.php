<?php

declare(strict_types=1);

namespace Docket;

final class AddResult
{
    public function __construct(
        public readonly ?string $id,
        public readonly bool $success,
        public readonly ?string $error,
    ) {
    }
}
