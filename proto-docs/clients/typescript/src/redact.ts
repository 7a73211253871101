/** Keeps keys and secrets out of messages and dumps. */

// Also behind a letter or a digit, as in `%22sk_live_…`, and percent-encoded.
const SECRET = /(sk_(?:test|live)_|whsec_)[\w+/=%-]+/g;
const MESSAGE_MAX_CHARS = 500;

/** Replaces API keys and signing secrets, as `sk_test_…`. */
export function redact(text: string): string {
  return text.replace(SECRET, "$1…");
}

/** Makes a text from outside safe to store and show: short, on one line, without secrets. */
export function safeText(text: string): string {
  return redact(text)
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, MESSAGE_MAX_CHARS);
}
