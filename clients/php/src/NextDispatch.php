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

    /** @param array<string, mixed> $answer */
    public static function of(array $answer): self
    {
        $task = $answer['task'];
        return new self(
            $task === null ? null : new Dispatch(
                $answer['logId'],
                $task['id'],
                $task['occurrence'],
                $task['startTime'],
                $task['params'],
                $answer['redo'],
            ),
            $answer['nextAt'],
            $answer['reasons'],
        );
    }
}
