<?php

declare(strict_types=1);

namespace Docket;

/**
 * An object of an answer, read field by field. A field of another type than the API has is a `DocketException` here, not
 * a `TypeError` later.
 *
 * @internal
 */
final class Fields
{
    /** @param array<string, mixed> $all */
    public function __construct(public readonly array $all)
    {
    }

    public function text(string $name): string
    {
        return $this->textOrNull($name) ?? $this->wrong($name, 'text');
    }

    public function textOrNull(string $name): ?string
    {
        $value = $this->any($name);
        return $value === null || is_string($value) ? $value : $this->wrong($name, 'text');
    }

    public function whole(string $name): int
    {
        $value = $this->any($name);
        return is_int($value) ? $value : $this->wrong($name, 'a whole number');
    }

    public function number(string $name): float
    {
        $value = $this->any($name);
        return is_int($value) || is_float($value) ? (float) $value : $this->wrong($name, 'a number');
    }

    public function flag(string $name): bool
    {
        $value = $this->any($name);
        return is_bool($value) ? $value : $this->wrong($name, 'true or false');
    }

    /** Null where it is missing. */
    public function any(string $name): mixed
    {
        return $this->all[$name] ?? null;
    }

    public function fields(string $name): self
    {
        return $this->fieldsOrNull($name) ?? $this->wrong($name, 'an object');
    }

    public function fieldsOrNull(string $name): ?self
    {
        $object = $this->objectOrNull($name);
        return $object === null ? null : new self($object);
    }

    /** @return array<string, mixed> */
    public function object(string $name): array
    {
        return $this->objectOrNull($name) ?? $this->wrong($name, 'an object');
    }

    /** @return ?array<string, mixed> */
    public function objectOrNull(string $name): ?array
    {
        $value = $this->any($name);
        return $value === null ? null : self::objectOf($value) ?? $this->wrong($name, 'an object');
    }

    /** @return list<self> */
    public function objects(string $name): array
    {
        $one = fn (mixed $value): self => new self(self::objectOf($value) ?? $this->wrong($name, 'a list of objects'));
        return array_map($one, $this->list($name));
    }

    /** @return list<string> */
    public function texts(string $name): array
    {
        $one = fn (mixed $value): string => is_string($value) ? $value : $this->wrong($name, 'a list of texts');
        return array_map($one, $this->list($name));
    }

    /** @return ?array<string, int> */
    public function countsOrNull(string $name): ?array
    {
        $one = fn (mixed $value): int => is_int($value) ? $value : $this->wrong($name, 'numbers by name');
        $object = $this->objectOrNull($name);
        return $object === null ? null : array_map($one, $object);
    }

    /**
     * What JSON's object became; null for anything else. An empty one cannot be told from an empty list.
     *
     * @return ?array<string, mixed>
     */
    public static function objectOf(mixed $value): ?array
    {
        if (!is_array($value)) {
            return null;
        }
        $object = [];
        foreach ($value as $name => $one) {
            $object[(string) $name] = $one;
        }
        return $object;
    }

    /** @return list<mixed> */
    private function list(string $name): array
    {
        $value = $this->any($name);
        return is_array($value) ? array_values($value) : $this->wrong($name, 'a list');
    }

    private function wrong(string $name, string $what): never
    {
        throw new DocketException("the server's answer should have $what as $name");
    }
}
