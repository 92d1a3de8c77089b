<?php

declare(strict_types=1);

namespace Docket;

/** What became of one entry of a batch, as of a call of its own. */
final class BatchResult
{
    /**
     * @param int $httpStatus 201: added; 200: it was there already, with the same content; else why not
     * @param ?string $problem the error code
     */
    public function __construct(
        public readonly ?string $id,
        public readonly int $httpStatus,
        public readonly ?string $problem,
        public readonly ?string $detail,
    ) {
    }

    /** @internal */
    public static function of(Fields $of): self
    {
        [$problem, $detail] = [$of->textOrNull('code'), $of->textOrNull('detail')];
        return new self($of->textOrNull('id'), $of->whole('httpStatus'), $problem, $detail);
    }
}
