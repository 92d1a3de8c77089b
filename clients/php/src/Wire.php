<?php

declare(strict_types=1);

namespace Docket;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * One try of one call at one server.
 *
 * @internal
 */
final class Wire
{
    /** How often a reader of an open body gets to look whether to go on. */
    private const LOOK_SECONDS = 1;

    /** @var array<int, ClientInterface> by process: two processes must not share a connection */
    private array $http = [];
    /** @var array<int, ClientInterface> */
    private array $streaming = [];

    /**
     * @param \Closure(): ClientInterface $newHttp
     * @param ?\Closure(): ClientInterface $newStreaming
     */
    public function __construct(
        private readonly \Closure $newHttp,
        private readonly ?\Closure $newStreaming,
        private readonly RequestFactoryInterface&StreamFactoryInterface $messages,
        public readonly ?string $apiKey,
    ) {
    }

    /**
     * @param array<string, string> $headers
     * @return array<string, mixed>
     * @throws TransientFailure where another server, or a later time, may help
     * @throws HttpException for a 4xx
     */
    public function call(string $server, string $method, string $path, ?string $content, array $headers = []): array
    {
        $response = $this->sent($this->http(), $server, $method, $path, $content, $headers, true);
        if ($response->getStatusCode() === 204) {
            return [];
        }
        $text = self::bodyOf($server, $response);
        $answer = Fields::objectOf(json_decode($text, true));
        $status = $response->getStatusCode();
        return $status >= 200 && $status < 300 && $answer !== null
            ? $answer
            : self::refused($server, $response, $text);
    }

    /** A body that isn't one JSON value, when all of it has come. @throws as `call` */
    public function text(string $server, string $path): string
    {
        $response = $this->sent($this->http(), $server, 'GET', $path, null, [], true);
        $text = self::bodyOf($server, $response);
        return $response->getStatusCode() === 200 ? $text : self::refused($server, $response, $text);
    }

    /**
     * A body to be read while it comes.
     *
     * @param array<string, string> $headers
     * @param bool $asKey with the key, where there is one
     * @return resource
     * @throws TransientFailure|HttpException as `call`
     */
    public function open(string $server, string $path, array $headers, bool $asKey)
    {
        $response = $this->sent($this->streaming(), $server, 'GET', $path, null, $headers, $asKey);
        if ($response->getStatusCode() !== 200) {
            self::refused($server, $response, self::bodyOf($server, $response));
        }
        $body = $response->getBody()->detach()
            ?? throw new \LogicException('the HTTP client of `streams` must give an open body: Guzzle by `stream`');
        stream_set_timeout($body, self::LOOK_SECONDS);
        return $body;
    }

    private function http(): ClientInterface
    {
        return $this->http[(int) getmypid()] ??= ($this->newHttp)();
    }

    private function streaming(): ClientInterface
    {
        $make = $this->newStreaming
            ?? throw new \LogicException('streams are read with an HTTP client of their own: give Client `streams`');
        return $this->streaming[(int) getmypid()] ??= $make();
    }

    /** @param array<string, string> $headers */
    private function sent(
        ClientInterface $http,
        string $server,
        string $method,
        string $path,
        ?string $content,
        array $headers,
        bool $asKey,
    ): ResponseInterface {
        $request = $this->messages->createRequest($method, $server . $path);
        if ($this->apiKey !== null && $asKey) {
            $request = $request->withHeader('authorization', "Bearer $this->apiKey");
        }
        if ($content !== null) {
            $request = $request
                ->withHeader('content-type', 'application/json')
                ->withBody($this->messages->createStream($content));
        }
        foreach ($headers as $name => $value) {
            $request = $request->withHeader($name, $value);
        }
        try {
            return $http->sendRequest($request);
        } catch (ClientExceptionInterface $error) {
            throw new TransientFailure("$server: {$error->getMessage()}", 0, $error);
        }
    }

    /** A body that is read while it comes can break off, too. */
    private static function bodyOf(string $server, ResponseInterface $response): string
    {
        try {
            return (string) $response->getBody();
        } catch (\RuntimeException $error) {
            throw new TransientFailure("$server: {$error->getMessage()}", 0, $error);
        }
    }

    /** Throws what an answer means that is not the one asked for. */
    private static function refused(string $server, ResponseInterface $response, string $text): never
    {
        $status = $response->getStatusCode();
        $answer = Fields::objectOf(json_decode($text, true)) ?? [];
        $detail = $answer['error'] ?? $answer['detail'] ?? null;
        $detail = is_string($detail) ? $detail : substr($text, 0, 200);
        if ($status >= 500 || $status === 429 || $status < 400) {
            $retryAfter = min((float) $response->getHeaderLine('retry-after'), Pause::LONGEST);
            throw new TransientFailure("$server: $status: $detail", $retryAfter, null, $status);
        }
        throw HttpException::of($status, $detail, $answer);
    }
}
