<?php

declare(strict_types=1);

namespace Docket;

/**
 * Server-sent events out of lines (HTML Living Standard, 9.2.6). An id counts from the end of its block on, also where
 * the block has no data: so a stream begins here, and that id must not get lost.
 *
 * @internal
 */
final class SseParser
{
    private string $type = '';
    /** @var list<string> */
    private array $data = [];
    private ?string $id;

    public function __construct(public ?string $lastEventId = null)
    {
        $this->id = $lastEventId;
    }

    /** @param string $line without its end; the event that it completes */
    public function line(string $line): ?StreamEvent
    {
        if ($line === '') {
            return $this->block();
        }
        [$field, $value] = [...explode(':', $line, 2), ''];
        $value = str_starts_with($value, ' ') ? substr($value, 1) : $value;
        if ($field === 'data') {
            $this->data[] = $value;
        } elseif ($field === 'event') {
            $this->type = $value;
        } elseif ($field === 'id' && !str_contains($value, "\0")) {
            $this->id = $value;
        }
        return null;
    }

    private function block(): ?StreamEvent
    {
        [$type, $data] = [$this->type, $this->data];
        $this->type = '';
        $this->data = [];
        $this->lastEventId = $this->id;
        if ($data === []) {
            return null;
        }
        $object = Fields::objectOf(json_decode(implode("\n", $data), true));
        return new StreamEvent($type === '' ? 'message' : $type, $object ?? [], $this->id);
    }
}
