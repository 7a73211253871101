/** Keeps keys and secrets out of messages and dumps. */

// Behind a letter, only what is as long as a key: `desk_test_17` is none. Also percent-encoded, as in `%22sk_live_…`.
const SECRET = /(?:(?<![A-Za-z])|(?=[\w+/=%-]{32}))(sk_(?:test|live)_|whsec_)[\w+/=%-]+/g;
const MESSAGE_MAX_CHARS = 500;

/** Replaces API keys and signing secrets, as `sk_test_…`. */
export function redact(text: string): string {
  return text.replace(SECRET, "$1…");
}

/** The same JSON value without secrets in its texts. */
export function redactAll<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, part) => (typeof part === "string" ? redact(part) : part));
}

/** Makes a text from outside safe to store and show: short, on one line, without secrets. */
export function safeText(text: string): string {
  return redact(text)
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, MESSAGE_MAX_CHARS);
}
