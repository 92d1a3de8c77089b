<?php

declare(strict_types=1);

namespace Docket;

final class NextDispatch
{
    /**
     * @param ?string $nextAt when there will be something, as far as that is known
     * @param ?array<string, int> $reasons counts of what is not for the user
     */
    public function __construct(
        public readonly ?Dispatch $dispatch,
        public readonly ?string $nextAt,
        public readonly ?array $reasons,
    ) {
    }

    /** @internal */
    public static function of(Fields $of): self
    {
        $task = $of->fieldsOrNull('task');
        return new self(
            $task === null ? null : new Dispatch(
                $of->text('logId'),
                $task->text('id'),
                $task->text('occurrence'),
                $task->text('startTime'),
                $task->object('params'),
                $of->flag('redo'),
            ),
            $of->textOrNull('nextAt'),
            $of->countsOrNull('reasons'),
        );
    }
}
