<?php

declare(strict_types=1);

namespace Docket;

/**
 * The events of a person or a queue as they come.
 *
 * @extends Subscription<StreamEvent>
 */
final class EventStream extends Subscription
{
    private SseParser $parser;

    /**
     * @internal
     * @param array<string, ?string> $of
     * @param ?\Closure(): string $ticket
     * @param ?\Closure(\Throwable): void $onError
     */
    public function __construct(
        Transport $transport,
        private readonly array $of,
        ?string $lastEventId,
        private readonly ?\Closure $ticket,
        ?\Closure $onError,
    ) {
        parent::__construct($transport, $onError);
        $this->parser = new SseParser($lastEventId);
    }

    protected function connect()
    {
        $last = $this->parser->lastEventId;
        // what was cut in the middle is sent again as a whole
        $this->parser = new SseParser($last);
        $query = $this->of + ['ticket' => $this->newTicket()];
        $headers = ($last ?? '') === '' ? [] : ['last-event-id' => $last];
        return $this->transport->open(Transport::query('/v1/stream', $query), $headers, false);
    }

    protected function read(string $line): ?StreamEvent
    {
        return $this->parser->line($line);
    }

    /** One for each connection, because it has to be used within a minute. Null: no one needs one. */
    private function newTicket(): ?string
    {
        if ($this->ticket !== null) {
            return ($this->ticket)();
        }
        return $this->transport->hasKey()
            ? (new Fields($this->transport->call('POST', '/v1/stream-tickets', null, 0)))->text('ticket')
            : null;
    }
}
