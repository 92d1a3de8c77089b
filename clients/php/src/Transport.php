<?php

declare(strict_types=1);

namespace Docket;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Calls the first server that answers. Every call of this package may be sent twice (adding goes by id, the others
 * by token or log id), so a try whose outcome is unknown is simply repeated.
 *
 * @internal
 */
final class Transport
{
    private const DISCOVER_SECONDS = 30;
    /** What a server that listens everywhere calls itself; nobody else can call it that. */
    private const ANYWHERE = '~^https?://(0\.0\.0\.0|\[::\])(:|/|$)~';
    public const JSON = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;

    /** @var list<string> */
    private array $given;
    /** @var list<string> */
    private array $learned = [];
    private ?string $preferred = null;
    private float $discoverAt;
    /** @var array<int, ClientInterface> by process: two processes must not share a connection */
    private array $http = [];

    /**
     * @param string|list<string> $servers
     * @param \Closure(): ClientInterface $newHttp
     */
    public function __construct(
        string|array $servers,
        private readonly \Closure $newHttp,
        private readonly RequestFactoryInterface&StreamFactoryInterface $messages,
        private readonly ?string $apiKey,
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

    /**
     * @param ?array<string, mixed> $body
     * @return array<string, mixed>
     * @throws HttpException for a 4xx
     * @throws UnavailableException when no server answers for so long
     * @throws \JsonException for a body that JSON can't say
     */
    public function call(string $method, string $path, ?array $body = null, ?float $retrySeconds = null): array
    {
        $this->discoverWhenDue();
        $content = $body === null ? null : json_encode($body, self::JSON);
        $until = self::now() + ($retrySeconds ?? $this->retrySeconds);
        for ($round = 0;; $round++) {
            $failure = null;
            foreach ($this->servers() as $server) {
                try {
                    $answer = $this->once($server, $method, $path, $content);
                    $this->preferred = $server;
                    return $answer;
                } catch (TransientFailure $failure) {
                    continue;
                }
            }
            $pause = max(Pause::after($round), $failure?->retryAfter ?? 0);
            if (self::now() + $pause > $until) {
                throw new UnavailableException("no server answers: {$failure?->getMessage()}", 0, $failure);
            }
            Pause::sleep($pause);
        }
    }

    /** @return array<string, mixed> */
    private function once(string $server, string $method, string $path, ?string $content): array
    {
        $request = $this->messages->createRequest($method, $server . $path);
        if ($this->apiKey !== null) {
            $request = $request->withHeader('authorization', "Bearer $this->apiKey");
        }
        if ($content !== null) {
            $request = $request
                ->withHeader('content-type', 'application/json')
                ->withBody($this->messages->createStream($content));
        }
        $http = $this->http[getmypid()] ??= ($this->newHttp)();
        try {
            $response = $http->sendRequest($request);
            $text = (string) $response->getBody();
        } catch (ClientExceptionInterface $error) {
            throw new TransientFailure("$server: {$error->getMessage()}", 0, $error);
        } catch (\RuntimeException $error) {
            // a body that is read while it comes can break off, too
            throw new TransientFailure("$server: {$error->getMessage()}", 0, $error);
        }
        return self::answerOf($server, $response, $text);
    }

    /** @return array<string, mixed> */
    private static function answerOf(string $server, ResponseInterface $response, string $text): array
    {
        $status = $response->getStatusCode();
        $answer = json_decode($text, true);
        if (!is_array($answer)) {
            $answer = null;
        }
        if ($status >= 200 && $status < 300 && $answer !== null) {
            return $answer;
        }
        $detail = (string) ($answer['error'] ?? $answer['detail'] ?? substr($text, 0, 200));
        if ($status >= 500 || $status === 429 || $status < 400) {
            $retryAfter = min((float) $response->getHeaderLine('retry-after'), Pause::LONGEST);
            throw new TransientFailure("$server: $status: $detail", $retryAfter);
        }
        throw HttpException::of($status, $detail, $answer);
    }

    /** What can't be learned now is asked for again later; the given servers are always there. */
    private function discoverWhenDue(): void
    {
        if (self::now() < $this->discoverAt) {
            return;
        }
        $this->discoverAt = self::now() + self::DISCOVER_SECONDS;
        try {
            $urls = array_column($this->call('GET', '/v1/nodes', null, 0)['items'], 'url');
            $reachable = fn (?string $url) => $url !== null && !preg_match(self::ANYWHERE, $url);
            $this->learned = array_values(array_filter($urls, $reachable));
        } catch (AuthException $error) {
            throw $error;
        } catch (DocketException) {
            return;
        }
    }

    /** Of a clock that nobody sets. */
    public static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
