<?php

declare(strict_types=1);

namespace Docket;

/**
 * Signatures of Standard Webhooks, version 1: an HMAC-SHA256 over id, time and body.
 *
 * @internal
 */
final class Signature
{
    /** How far a sender's clock, and the way of the message, may put its time off; seconds. */
    private const TOLERANCE = 300;

    /**
     * @param array<int|string, string|list<string>> $headers
     * @param list<string> $secrets `whsec_` and base64
     * @return string the id of the message
     * @throws SignatureException
     */
    public static function check(array $headers, string $body, array $secrets): string
    {
        $id = self::header($headers, 'webhook-id');
        $time = self::header($headers, 'webhook-timestamp');
        $signatures = explode(' ', self::header($headers, 'webhook-signature'));
        if (!ctype_digit($time) || abs(time() - (int) $time) > self::TOLERANCE) {
            throw new SignatureException("webhook-timestamp $time is too far from the time here");
        }
        $matches = false;
        foreach ($secrets as $secret) {
            $wanted = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", self::key($secret), true));
            foreach ($signatures as $signature) {
                $matches = hash_equals($wanted, $signature) || $matches;
            }
        }
        return $matches ? $id : throw new SignatureException('webhook-signature is of another secret or another body');
    }

    /** @param array<int|string, string|list<string>> $headers */
    private static function header(array $headers, string $name): string
    {
        foreach ($headers as $given => $value) {
            if (strcasecmp((string) $given, $name) === 0) {
                return is_array($value) ? implode(' ', $value) : $value;
            }
        }
        throw new SignatureException("the header $name is missing");
    }

    private static function key(string $secret): string
    {
        $key = base64_decode((string) preg_replace('/^whsec_/', '', $secret), true);
        return $key === false || $key === ''
            ? throw new \InvalidArgumentException('secret: must be whsec_ and base64')
            : $key;
    }
}
