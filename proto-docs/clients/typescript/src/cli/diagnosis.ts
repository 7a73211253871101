/** Why a recorded webhook does not verify: the mistakes that the portal's check names too. */
import { WebhookError } from "../errors.js";
import { constructEvent, headerOf, type VerifyOptions, type WebhookHeaders } from "../webhooks.js";

/** A secret that may have signed the webhook, and how the developer knows it. */
export interface NamedSecret {
  name: string;
  secret: string;
}

/** `secret` is the one that was expected, `other` one that is known too. */
export function diagnose(
  reason: WebhookError,
  body: Buffer,
  headers: WebhookHeaders,
  { secret, other }: { secret: NamedSecret; other: NamedSecret | undefined },
  options: VerifyOptions,
): string[] {
  if (reason.reason !== "mismatch" && reason.reason !== "too_old" && reason.reason !== "too_new") return [];
  const fits = (bytes: Buffer, { secret: key }: NamedSecret) => isSigned(bytes, headers, key, options);
  const found = ageOf(headers, options);
  if (fits(body, secret)) return [...found, "The signature matches."];
  for (const [bytes, mistake] of alteredBodies(body)) {
    if (fits(bytes, secret)) return [...found, mistake];
  }
  if (other && fits(body, other))
    return [...found, `It is signed with ${other.name}, not with ${secret.name}.`];
  const unexplained = isJson(body)
    ? `No common mistake explains the signature: the secret or the body is another one. Use the raw bytes as they arrived, and the secret of this endpoint; it was compared with ${secret.name}.`
    : "The body is not JSON, so it is not what was sent. Was it truncated or changed before it was recorded?";
  return [...found, unexplained];
}

/** Whatever its age. */
function isSigned(body: Buffer, headers: WebhookHeaders, secret: string, options: VerifyOptions): boolean {
  try {
    constructEvent(body, headers, secret, { ...options, toleranceSeconds: Number.MAX_SAFE_INTEGER });
    return true;
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return error.reason === "not_an_event";
  }
}

function ageOf(headers: WebhookHeaders, options: VerifyOptions): string[] {
  const names = ["webhook-timestamp", `${options.headerPrefix ?? "Service"}-timestamp`.toLowerCase()];
  const text = names.map((name) => headerOf(headers, name)).find((given) => given !== undefined);
  const age = Math.floor((options.nowSeconds ?? Date.now() / 1_000) - Number(text));
  const tolerance = options.toleranceSeconds ?? 300;
  if (Math.abs(age) <= tolerance) return [];
  const when = age > 0 ? `${age} s ago` : `${-age} s in the future`;
  return [
    `It was signed ${when}, and ${tolerance} s are allowed: a recorded webhook is old, a live one means a wrong clock. --tolerance allows more.`,
  ];
}

/** Bodies that may have been sent, each with the change that explains the given one. */
function* alteredBodies(body: Buffer): Generator<[Buffer, string]> {
  const newline =
    "The body differs by a line break at its end. Use the raw bytes, without adding or trimming any.";
  const text = body.toString("utf8");
  yield [Buffer.from(`${text}\n`), newline];
  yield [Buffer.from(text.trimEnd()), newline];
  yield [Buffer.from(text.replaceAll("\r\n", "\n")), "The body's line breaks were changed (CRLF and LF)."];
  yield [
    Buffer.from(text.replace(/^\uFEFF/, "")),
    "The body has an additional byte order mark at its start.",
  ];
  if (!isJson(body)) return;
  yield [
    Buffer.from(JSON.stringify(JSON.parse(text))),
    "The body is the same JSON, serialised again. The signature covers the raw bytes as they arrived, before parsing.",
  ];
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}
