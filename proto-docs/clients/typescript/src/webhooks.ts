/** Verifies the signature of webhooks, and signs test events for your own tests. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type RefusalReason, WebhookError } from "./errors.js";
import { isEvent, type WebhookEvent } from "./types.js";

const TOLERANCE_SECONDS = 300;
/** The number of signatures checked in one header; a rotation needs two. */
const SIGNATURES_MAX = 8;
const SECRETS_MAX = 8;

/** Of Node (`request.headers`) or of fetch (`Headers`). */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

export interface VerifyOptions {
  /** The first word of the operator's own headers: `Service-Signature` unless the operator chose another name. */
  headerPrefix?: string;
  toleranceSeconds?: number;
  /** For tests. */
  nowSeconds?: number;
}

/**
 * Verifies a webhook and returns its event. Pass the raw bytes of the body: JSON that was parsed and serialized again
 * has another signature. `secrets` may contain the present and the next secret of a rotation.
 *
 * @throws WebhookError if it cannot be trusted: answer 401.
 */
export function constructEvent(
  rawBody: Uint8Array | string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): WebhookEvent {
  const body = bytesOf(rawBody);
  const reason = refusal(body, headers, parseSecrets(secrets), options);
  if (reason) throw new WebhookError(reason);
  return parseEvent(body);
}

/** The headers of a signed event, for tests of your receiver. */
export function signTestEvent(
  rawBody: Uint8Array | string,
  secret: string,
  options: { headerPrefix?: string; nowSeconds?: number } = {},
): Record<string, string> {
  const body = bytesOf(rawBody);
  const [parsed] = parseSecrets(secret);
  if (!parsed) throw new TypeError("a signing secret is required");
  const event = parseEvent(body);
  const timestamp = String(Math.floor(options.nowSeconds ?? Date.now() / 1_000));
  const prefix = options.headerPrefix ?? "Service";
  return {
    "content-type": "application/json",
    "webhook-id": event.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": standardSignature(parsed, event.id, timestamp, body),
    [`${prefix}-Timestamp`]: timestamp,
    [`${prefix}-Signature`]: ownSignature(parsed, timestamp, body),
    [`${prefix}-Event-Id`]: event.id,
    [`${prefix}-Mode`]: event.mode,
  };
}

interface Secret {
  text: string;
  key: Buffer;
}

/** Either scheme is enough. The reason is that of the scheme that came closer. */
function refusal(
  body: Buffer,
  headers: WebhookHeaders,
  secrets: readonly Secret[],
  options: VerifyOptions,
): RefusalReason | undefined {
  const prefix = (options.headerPrefix ?? "Service").toLowerCase();
  const standard = standardRefusal(body, headers, secrets, options);
  if (standard === undefined) return undefined;
  const own = ownRefusal(body, headers, prefix, secrets, options);
  return own === undefined ? undefined : standard === "missing_headers" ? own : standard;
}

function standardRefusal(
  body: Buffer,
  headers: WebhookHeaders,
  secrets: readonly Secret[],
  options: VerifyOptions,
): RefusalReason | undefined {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined) return "missing_headers";
  const age = ageRefusal(timestamp, options);
  if (age) return age;
  const given = signatures.split(" ").slice(0, SIGNATURES_MAX);
  return matches(
    given,
    secrets.map((secret) => standardSignature(secret, id, timestamp, body)),
  );
}

function ownRefusal(
  body: Buffer,
  headers: WebhookHeaders,
  prefix: string,
  secrets: readonly Secret[],
  options: VerifyOptions,
): RefusalReason | undefined {
  const timestamp = headerOf(headers, `${prefix}-timestamp`);
  const given = ["signature", "signature-next"]
    .map((name) => headerOf(headers, `${prefix}-${name}`))
    .filter((value) => value !== undefined);
  if (timestamp === undefined || given.length === 0) return "missing_headers";
  const age = ageRefusal(timestamp, options);
  if (age) return age;
  return matches(
    given,
    secrets.map((secret) => ownSignature(secret, timestamp, body)),
  );
}

function ageRefusal(timestamp: string, options: VerifyOptions): RefusalReason | undefined {
  if (!/^\d{1,15}$/.test(timestamp)) return "malformed_timestamp";
  const tolerance = options.toleranceSeconds ?? TOLERANCE_SECONDS;
  const age = Math.floor(options.nowSeconds ?? Date.now() / 1_000) - Number(timestamp);
  if (age > tolerance) return "too_old";
  return age < -tolerance ? "too_new" : undefined;
}

/** Compares every pair in constant time. The lengths are no secret. */
function matches(given: readonly string[], expected: readonly string[]): RefusalReason | undefined {
  let matched = false;
  for (const one of given) {
    const bytes = Buffer.from(one);
    for (const other of expected) {
      const wanted = Buffer.from(other);
      if (bytes.length === wanted.length && timingSafeEqual(bytes, wanted)) matched = true;
    }
  }
  return matched ? undefined : "mismatch";
}

/** Standard Webhooks: the key is the decoded base64 after `whsec_`. */
function standardSignature(secret: Secret, id: string, timestamp: string, body: Buffer): string {
  const hmac = createHmac("sha256", secret.key).update(`${id}.${timestamp}.`).update(body);
  return `v1,${hmac.digest("base64")}`;
}

/** The operator's own scheme: the key is the whole secret as shown. */
function ownSignature(secret: Secret, timestamp: string, body: Buffer): string {
  return `sha256=${createHmac("sha256", secret.text).update(`${timestamp}.`).update(body).digest("hex")}`;
}

/** Refuses a truncated secret at once, instead of every webhook later. */
export function parseSecrets(secrets: string | readonly string[] | undefined): Secret[] {
  // An environment variable that is not set is undefined in JavaScript, or an empty text.
  const texts = typeof secrets === "string" ? [secrets] : (secrets ?? [undefined]);
  if (texts.some((text) => !text)) {
    throw new TypeError(
      "the signing secret is missing; is the environment variable set that you read it from?",
    );
  }
  if (texts.length === 0 || texts.length > SECRETS_MAX) {
    throw new TypeError(`pass 1 to ${SECRETS_MAX} signing secrets`);
  }
  return texts.map((text = "") => {
    const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? "";
    const key = Buffer.from(encoded, "base64");
    // Comparing the text again finds base64 that Node decodes leniently.
    if (key.length < 24 || key.length > 64 || key.toString("base64") !== encoded) {
      throw new TypeError("a signing secret is whsec_ and base64 of 24 to 64 bytes; use it as it was shown");
    }
    return { text, key };
  });
}

export function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const key = Object.keys(headers).find((given) => given.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  // A header that was sent twice is joined, as fetch does, and then matches nothing.
  return Array.isArray(value) ? value.join(", ") : value;
}

function bytesOf(rawBody: Uint8Array | string): Buffer {
  if (typeof rawBody === "string") return Buffer.from(rawBody);
  if (rawBody instanceof Uint8Array)
    return Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  throw new TypeError("pass the raw bytes of the body, not parsed JSON; with Express use express.raw()");
}

function parseEvent(body: Buffer): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(body.toString("utf8"));
  } catch {
    throw new WebhookError("not_an_event");
  }
  if (!isEvent(event)) throw new WebhookError("not_an_event");
  return event;
}
