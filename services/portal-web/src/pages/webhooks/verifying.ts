// The verification in four languages, as in the guide, with this installation's header names.

export const VERIFYING: { name: string; code: (headerPrefix: string) => string }[] = [
  { name: "Node.js", code: (prefix) => node(prefix.toLowerCase()) },
  { name: "Python", code: (prefix) => python(prefix.toLowerCase()) },
  { name: "PHP", code: (prefix) => php(prefix.toLowerCase()) },
  { name: "Java", code: java },
];

function node(prefix: string): string {
  return `const crypto = require('node:crypto');

// rawBody is a Buffer: with Express, app.post(path, express.raw({ type: () => true }), …) gives it as req.body.
function verify(secret, headers, rawBody) {
  if (!Buffer.isBuffer(rawBody)) return false; // a request without a body
  const timestamp = headers['${prefix}-timestamp'] ?? '';
  if (!/^\\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const hmac = crypto.createHmac('sha256', secret).update(timestamp + '.').update(rawBody);
  const expected = Buffer.from('sha256=' + hmac.digest('hex'));
  return ['${prefix}-signature', '${prefix}-signature-next'].some((name) => {
    const given = Buffer.from(headers[name] ?? '');
    return given.length === expected.length && crypto.timingSafeEqual(given, expected);
  });
}`;
}

function python(prefix: string): string {
  return `import hashlib, hmac, time

# raw_body is bytes: request.get_data() in Flask, request.body in Django, await request.body() in FastAPI.
def verify(secret: str, headers, raw_body: bytes) -> bool:
    timestamp = headers.get("${prefix}-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    if abs(time.time() - int(timestamp)) > 300:
        return False
    signed = timestamp.encode() + b"." + raw_body
    expected = "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    given = [headers.get(name, "") for name in ("${prefix}-signature", "${prefix}-signature-next")]
    return any([hmac.compare_digest(one.encode(), expected.encode()) for one in given])`;
}

function php(prefix: string): string {
  return `<?php
// $rawBody is file_get_contents('php://input'), and $headers is array_change_key_case(getallheaders()).
function verify(string $secret, array $headers, string $rawBody): bool {
    $timestamp = $headers['${prefix}-timestamp'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $expected = 'sha256=' . hash_hmac('sha256', $timestamp . '.' . $rawBody, $secret);
    return hash_equals($expected, $headers['${prefix}-signature'] ?? '')
        || hash_equals($expected, $headers['${prefix}-signature-next'] ?? '');
}`;
}

function java(prefix: string): string {
  return `import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Webhooks { // Java 17 or later
  // header is request::getHeader of a servlet; rawBody is request.getInputStream().readAllBytes().
  static boolean verify(String secret, UnaryOperator<String> header, byte[] rawBody)
      throws GeneralSecurityException {
    String timestamp = header.apply("${prefix}-Timestamp");
    if (timestamp == null || !timestamp.matches("[0-9]{1,12}")) return false;
    if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > 300) return false;

    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    mac.update((timestamp + ".").getBytes(StandardCharsets.UTF_8));
    String expected = "sha256=" + HexFormat.of().formatHex(mac.doFinal(rawBody));
    return isSame(expected, header.apply("${prefix}-Signature"))
        || isSame(expected, header.apply("${prefix}-Signature-Next"));
  }

  private static boolean isSame(String expected, String given) {
    return given != null
        && MessageDigest.isEqual(
            expected.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
  }
}`;
}
