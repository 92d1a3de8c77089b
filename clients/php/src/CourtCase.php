<?php

declare(strict_types=1);

namespace Docket;

/** A case as the API shows it to the caller; objects in `body` are arrays. */
final class CourtCase implements Held
{
    /**
     * @param string $state open, decided, hung or invalidated
     * @param list<array<string, mixed>> $parties
     * @param array<string, int> $tally
     * @param int $votesLeft the fewest further votes that could decide it
     * @param ?array<string, mixed> $of what a second case is about
     * @param list<array<string, mixed>> $looks appeals against it
     * @param ?array<string, mixed> $standing the verdict that counts now
     * @param ?Lease $lease of a claim
     * @param bool $resumed the juror held it before
     */
    public function __construct(
        public readonly string $id,
        public readonly string $court,
        public readonly string $state,
        public readonly array $parties,
        public readonly mixed $body,
        public readonly array $tally,
        public readonly int $votesLeft,
        public readonly ?string $winner,
        public readonly int $holds,
        public readonly int $wasted,
        public readonly int $version,
        public readonly string $createdAt,
        public readonly ?string $deadlineAt,
        public readonly ?string $decidedAt,
        public readonly ?string $endedAt,
        public readonly ?string $endReason,
        public readonly ?array $of,
        public readonly array $looks,
        public readonly ?array $standing,
        public readonly ?Lease $lease,
        public readonly bool $resumed,
    ) {
    }

    public function id(): string
    {
        return $this->id;
    }

    public function token(): string
    {
        return $this->lease?->token ?? throw new \InvalidArgumentException("case $this->id is not held by the caller");
    }

    /** @internal */
    public static function of(Fields $of, ?Lease $lease = null, bool $resumed = false): self
    {
        return new self(
            id: $of->text('id'),
            court: $of->text('court'),
            state: $of->text('state'),
            parties: array_map(fn (Fields $party) => $party->all, $of->objects('parties')),
            body: $of->any('body'),
            tally: $of->countsOrNull('tally') ?? [],
            votesLeft: $of->whole('votesLeft'),
            winner: $of->textOrNull('winner'),
            holds: $of->whole('holds'),
            wasted: $of->whole('wasted'),
            version: $of->whole('version'),
            createdAt: $of->text('createdAt'),
            deadlineAt: $of->textOrNull('deadlineAt'),
            decidedAt: $of->textOrNull('decidedAt'),
            endedAt: $of->textOrNull('endedAt'),
            endReason: $of->textOrNull('endReason'),
            of: $of->objectOrNull('of'),
            looks: array_map(fn (Fields $look) => $look->all, $of->objects('looks')),
            standing: $of->objectOrNull('standing'),
            lease: $lease,
            resumed: $resumed,
        );
    }
}
