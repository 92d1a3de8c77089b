<?php

declare(strict_types=1);

namespace Docket;

/** One event of one item. */
final class FeedEvent
{
    /**
     * @param int $seq its position in the feed
     * @param string $id stable, for upserts
     */
    public function __construct(
        public readonly int $seq,
        public readonly string $id,
        public readonly string $kind,
        public readonly string $itemId,
        public readonly string $type,
        public readonly string $actor,
        public readonly string $at,
        public readonly mixed $data,
    ) {
    }

    /** @internal */
    public static function of(Fields $of): self
    {
        return new self(
            $of->whole('seq'),
            $of->text('id'),
            $of->text('kind'),
            $of->text('itemId'),
            $of->text('type'),
            $of->text('actor'),
            $of->text('at'),
            $of->any('data'),
        );
    }
}
