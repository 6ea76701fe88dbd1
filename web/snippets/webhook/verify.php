<?php

/**
 * Whether the value of X-Pay-Signature is right for a body, byte by byte as it came. The
 * secret is used as it is shown, whsec_ included; nothing is right for an empty one.
 *
 *   $body = file_get_contents('php://input');
 *   if (!verify($body, $_SERVER['HTTP_X_PAY_SIGNATURE'] ?? '', $secret)) {
 *       http_response_code(401);
 *       exit;
 *   }
 */
function verify(string $body, string $header, string $secret): bool
{
    return $secret !== '' && hash_equals('sha256=' . hash_hmac('sha256', $body, $secret), $header);
}
