<?php

declare(strict_types=1);

namespace Docket;

/** A ticket as the API shows it; objects in `body` and `decision` are arrays. */
final class Ticket implements Held
{
    /**
     * @param string $state delayed, waiting, held, decided, invalidated, expired or dead
     * @param list<string> $requires
     * @param list<string> $exclude
     * @param int $attempts leases granted
     * @param ?array<string, mixed> $invalidation `reason`, `by`, `at`
     * @param ?array<string, mixed> $of of a second look: `id`, `cause`
     * @param array<int, mixed> $looks the second looks at it
     * @param ?array<string, mixed> $standing the decision that counts
     * @param bool $resumed it was handed out to this reviewer before
     * @param string $automation none, partial (who decided was shown a suggestion) or full (a model decided)
     * @param ?array<string, mixed> $suggestion `model`, `decision`, `confidence`, `reasons`
     */
    public function __construct(
        public readonly string $id,
        public readonly string $queue,
        public readonly string $state,
        public readonly int $priority,
        public readonly mixed $body,
        public readonly array $requires,
        public readonly array $exclude,
        public readonly int $attempts,
        public readonly int $version,
        public readonly string $createdAt,
        public readonly string $availableAt,
        public readonly ?string $deadlineAt,
        public readonly ?Lease $lease,
        public readonly mixed $decision,
        public readonly ?string $decidedBy,
        public readonly ?string $decidedAt,
        public readonly ?string $reason,
        public readonly ?array $invalidation,
        public readonly bool $resumed,
        public readonly ?string $subject = null,
        public readonly ?array $of = null,
        public readonly array $looks = [],
        public readonly ?array $standing = null,
        public readonly string $automation = 'none',
        public readonly ?array $suggestion = null,
    ) {
    }

    public function id(): string
    {
        return $this->id;
    }

    public function token(): string
    {
        return $this->lease?->token ?? throw new \InvalidArgumentException("ticket $this->id is not held by the caller");
    }

    /** @internal */
    public static function of(Fields $of): self
    {
        $lease = $of->fieldsOrNull('lease');
        return new self(
            id: $of->text('id'),
            queue: $of->text('queue'),
            state: $of->text('state'),
            priority: $of->whole('priority'),
            body: $of->any('body'),
            requires: $of->texts('requires'),
            exclude: $of->texts('exclude'),
            attempts: $of->whole('attempts'),
            version: $of->whole('version'),
            createdAt: $of->text('createdAt'),
            availableAt: $of->text('availableAt'),
            deadlineAt: $of->textOrNull('deadlineAt'),
            lease: $lease === null ? null : Lease::of($lease),
            decision: $of->any('decision'),
            decidedBy: $of->textOrNull('decidedBy'),
            decidedAt: $of->textOrNull('decidedAt'),
            reason: $of->textOrNull('reason'),
            invalidation: $of->objectOrNull('invalidation'),
            resumed: $of->any('resumed') === true,
            subject: $of->textOrNull('subject'),
            of: $of->objectOrNull('of'),
            looks: (array) $of->any('looks'),
            standing: $of->objectOrNull('standing'),
            automation: $of->textOrNull('automation') ?? 'none',
            suggestion: $of->objectOrNull('suggestion'),
        );
    }
}
