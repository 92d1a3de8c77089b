<?php

declare(strict_types=1);

namespace Docket;

/**
 * Calls the first server that answers. Every call of this package may be sent twice (adding goes by id or key, the
 * others by token or log id), so a try whose outcome is unknown is repeated.
 *
 * @internal
 */
final class Transport
{
    private const DISCOVER_SECONDS = 30;
    /** What a server that listens everywhere calls itself; no one else can call it that. */
    private const ANYWHERE = '~^https?://(0\.0\.0\.0|\[::\])(:|/|$)~';
    private const PAGE = 100;
    public const JSON = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;

    /** @var list<string> */
    private readonly array $given;
    /** @var list<string> */
    private array $learned = [];
    private ?string $preferred = null;
    private float $discoverAt;

    /** @param string|list<string> $servers */
    public function __construct(
        string|array $servers,
        private readonly Wire $wire,
        private readonly float $retrySeconds,
        bool $discover,
    ) {
        $this->given = array_map(fn (string $url) => rtrim($url, '/'), array_values((array) $servers));
        if ($this->given === []) {
            throw new \InvalidArgumentException('servers: at least one is needed');
        }
        $this->discoverAt = $discover ? 0 : INF;
    }

    /** @return list<string> in the order in which they are tried */
    public function servers(): array
    {
        $all = array_values(array_unique([...$this->given, ...$this->learned]));
        $first = (int) array_search($this->preferred, $all, true);
        return [...array_slice($all, $first), ...array_slice($all, 0, $first)];
    }

    public function hasKey(): bool
    {
        return $this->wire->apiKey !== null;
    }

    /** A path with the names that stand in it. */
    public static function path(string $format, string ...$names): string
    {
        return sprintf($format, ...array_map(rawurlencode(...), $names));
    }

    /** @param array<string, string|int|null> $query null is left out */
    public static function query(string $path, array $query): string
    {
        $text = http_build_query($query, '', '&', PHP_QUERY_RFC3986);
        return $text === '' ? $path : "$path?$text";
    }

    /**
     * @param ?array<string, mixed> $body
     * @param ?float $retrySeconds 0: each server once
     * @param array<string, string> $headers
     * @return array<string, mixed>
     * @throws HttpException for a 4xx
     * @throws UnavailableException when no server answers for so long
     * @throws \JsonException for a body that JSON can't say
     */
    public function call(
        string $method,
        string $path,
        ?array $body = null,
        ?float $retrySeconds = null,
        array $headers = [],
    ): array {
        $content = $body === null ? null : self::json($body);
        $try = fn (string $server) => $this->wire->call($server, $method, $path, $content, $headers);
        return $this->tried($try, $retrySeconds ?? $this->retrySeconds);
    }

    /**
     * All that a list has, page by page as it is asked for.
     *
     * @param array<string, string|int|null> $query
     * @return \Generator<int, array<string, mixed>>
     */
    public function pages(string $path, array $query = []): \Generator
    {
        $query += ['limit' => self::PAGE];
        do {
            $page = new Fields($this->call('GET', self::query($path, $query)));
            foreach ($page->objects('items') as $item) {
                yield $item->all;
            }
            $query['cursor'] = $page->textOrNull('nextCursor');
        } while ($query['cursor'] !== null);
    }

    /** A body that isn't one JSON value, when all of it has come. */
    public function text(string $path): string
    {
        return $this->tried(fn (string $server) => $this->wire->text($server, $path), $this->retrySeconds);
    }

    /**
     * A body to be read while it comes; each server is tried once.
     *
     * @param array<string, string> $headers
     * @param bool $asKey with the key, where there is one
     * @return resource
     */
    public function open(string $path, array $headers = [], bool $asKey = true)
    {
        return $this->tried(fn (string $server) => $this->wire->open($server, $path, $headers, $asKey), 0);
    }

    /** The server that was called last has gone: begin with the next one. */
    public function turn(): void
    {
        $this->preferred = $this->servers()[1] ?? $this->preferred;
    }

    /**
     * @template T
     * @param \Closure(string): T $try throws TransientFailure where another server, or a later time, may help
     * @return T
     */
    private function tried(\Closure $try, float $retrySeconds): mixed
    {
        $this->discoverWhenDue();
        $until = self::now() + $retrySeconds;
        for ($round = 0;; $round++) {
            $failure = null;
            foreach ($this->servers() as $server) {
                try {
                    $answer = $try($server);
                    $this->preferred = $server;
                    return $answer;
                } catch (TransientFailure $error) {
                    // one that fails at the call says more than one that is away
                    $failure = $failure?->status === 500 ? $failure : $error;
                }
            }
            $pause = max(Pause::after($round), $failure?->retryAfter ?? 0);
            if (self::now() + $pause > $until) {
                $message = "no server answers: {$failure?->getMessage()}";
                throw new UnavailableException($message, $failure?->status, $failure);
            }
            Pause::sleep($pause);
        }
    }

    /** What can't be learned now is asked for again later; the given servers are always there. */
    private function discoverWhenDue(): void
    {
        if (self::now() < $this->discoverAt) {
            return;
        }
        $this->discoverAt = self::now() + self::DISCOVER_SECONDS;
        try {
            $nodes = (new Fields($this->call('GET', '/v1/nodes', null, 0)))->objects('items');
        } catch (DocketException) {
            return;
        }
        $learned = [];
        foreach ($nodes as $node) {
            $url = $node->textOrNull('url');
            if ($url !== null && !preg_match(self::ANYWHERE, $url)) {
                $learned[] = $url;
            }
        }
        $this->learned = $learned;
    }

    /**
     * As an object, also when it is empty.
     *
     * @param array<string, mixed> $body
     */
    private static function json(array $body): string
    {
        return json_encode((object) $body, self::JSON);
    }

    /** Of a clock that no one sets. */
    public static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
