<?php

declare(strict_types=1);

namespace Docket;

/**
 * Calls about tickets or cases: one may be final by now, or no longer the caller's.
 *
 * @internal
 */
final class Items
{
    /**
     * @param string $base of an item's path
     * @param string $group the path of what they belong to
     * @param string $plural what a batch calls them
     */
    public function __construct(
        public readonly Transport $transport,
        private readonly string $base,
        private readonly string $group,
        private readonly string $plural,
    ) {
    }

    /** Where a queue or court has something. */
    public function of(string $name, string $what = ''): string
    {
        return Transport::path($this->group, $name) . $what;
    }

    /** Where an item has something. */
    public function at(string $id, string $what = ''): string
    {
        return Transport::path($this->base, $id) . $what;
    }

    /**
     * @param ?array<string, mixed> $body
     * @throws LeaseLostException|NotOpenException|HttpException
     */
    public function call(string $method, string $id, string $what, ?array $body, ?float $retrySeconds = null): Fields
    {
        try {
            return new Fields($this->transport->call($method, $this->at($id, $what), $body, $retrySeconds));
        } catch (HttpException $error) {
            $answer = ['id' => $id, 'error' => $error->detail] + $error->answer;
            throw match ($error->problem) {
                'lease_lost' => new LeaseLostException($answer),
                'not_open' => new NotOpenException($answer),
                default => $error,
            };
        }
    }

    /**
     * Adds one. One without an id has a key instead, by which the server knows a repeat.
     *
     * @param array<string, mixed> $item
     */
    public function add(string $name, array $item): Fields
    {
        $headers = isset($item['id']) ? [] : ['idempotency-key' => Batches::newId()];
        $path = $this->of($name, "/$this->plural");
        return new Fields($this->transport->call('POST', $path, $item, headers: $headers));
    }

    /**
     * @param iterable<array<string, mixed>> $items
     * @return list<BatchResult>
     */
    public function addMany(string $name, iterable $items): array
    {
        $results = [];
        $path = $this->of($name, "/$this->plural/batch");
        foreach (Batches::of(Batches::named($items)) as $part) {
            $answer = new Fields($this->transport->call('POST', $path, [$this->plural => $part]));
            foreach ($answer->objects('results') as $result) {
                $results[] = BatchResult::of($result);
            }
        }
        return $results;
    }
}
