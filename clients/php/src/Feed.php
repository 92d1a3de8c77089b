<?php

declare(strict_types=1);

namespace Docket;

/**
 * All events of all kinds, behind a position.
 *
 * @extends Subscription<FeedEvent>
 */
final class Feed extends Subscription
{
    private const PAGE = 1000;

    /**
     * @internal
     * @param ?\Closure(\Throwable): void $onError
     */
    public function __construct(
        Transport $transport,
        private int $after,
        private readonly bool $follow,
        ?\Closure $onError,
    ) {
        parent::__construct($transport, $onError);
    }

    /** @return \Generator<int, FeedEvent> */
    public function getIterator(): \Generator
    {
        return $this->follow ? parent::getIterator() : $this->present();
    }

    protected function connect()
    {
        $query = ['after' => $this->after, 'follow' => 'true'];
        return $this->transport->open(Transport::query('/v1/feed', $query));
    }

    protected function read(string $line): ?FeedEvent
    {
        if ($line === '') {
            return null;
        }
        $event = FeedEvent::of(new Fields(Fields::objectOf(json_decode($line, true)) ?? []));
        $this->after = $event->seq;
        return $event;
    }

    /**
     * Up to the last one that there is by now.
     *
     * @return \Generator<int, FeedEvent>
     */
    private function present(): \Generator
    {
        do {
            $query = ['after' => $this->after, 'limit' => self::PAGE];
            $lines = explode("\n", $this->transport->text(Transport::query('/v1/feed', $query)));
            $events = array_filter($lines, fn (string $line) => $line !== '');
            foreach ($events as $line) {
                $event = $this->read($line);
                if ($event !== null) {
                    yield $event;
                }
            }
        } while ($events !== []);
    }
}
