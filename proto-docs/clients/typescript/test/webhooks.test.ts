/** Signatures: the vectors that all languages share, and what is particular to this package. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { isKnown, WebhookError, webhooks } from "@waybill/client";

interface Vectors {
  secrets: string[];
  now: number;
  cases: { name: string; headers: Record<string, string>; body: string; valid: boolean; reason?: string }[];
}
const file = new URL("../../../vectors/webhook-signatures.json", import.meta.url);
const vectors: Vectors = JSON.parse(await readFile(file, "utf8"));
const SECRET = vectors.secrets[0] ?? "";
const BODY = JSON.stringify({
  id: "evt_9",
  event: "parcel.teleported",
  sequence: 1,
  mode: "test",
  order: null,
});

function reasonOf(verify: () => unknown): string {
  try {
    verify();
  } catch (error) {
    assert.ok(error instanceof WebhookError, String(error));
    return error.reason;
  }
  throw new Error("it was accepted");
}

describe("shared vectors", () => {
  for (const { name, headers, body, valid, reason } of vectors.cases) {
    test(name, () => {
      const forms = [headers, new Headers(headers), lowerCase(headers)];
      for (const given of forms) {
        const verify = () => {
          const options = { nowSeconds: vectors.now };
          return webhooks.constructEvent(Buffer.from(body), given, vectors.secrets, options);
        };
        if (valid) assert.equal(verify().id, "evt_1");
        else assert.equal(reasonOf(verify), reason);
      }
    });
  }
});

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

test("a signed test event verifies by each scheme, with the operator's prefix, and an unknown kind passes", () => {
  const headers = webhooks.signTestEvent(BODY, SECRET, { headerPrefix: "Acme" });
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("Acme")));
  const event = webhooks.constructEvent(BODY, own, SECRET, { headerPrefix: "Acme" });
  assert.deepEqual([event.event, isKnown(event)], ["parcel.teleported", false]);
  assert.equal(
    reasonOf(() => webhooks.constructEvent(BODY, own, SECRET)),
    "missing_headers",
  );
  assert.equal(webhooks.constructEvent(Buffer.from(BODY), headers, SECRET).id, "evt_9");
});

test("what is signed but no event is refused", () => {
  const headers = webhooks.signTestEvent(BODY, SECRET);
  const doubled = { ...headers, "webhook-signature": ["v1,x", headers["webhook-signature"] ?? ""] };
  assert.equal(webhooks.constructEvent(BODY, doubled, SECRET).id, "evt_9");
  assert.throws(() => webhooks.signTestEvent("[]", SECRET), WebhookError);
});

test("wrong arguments are explained, without the secret", () => {
  const headers = webhooks.signTestEvent(BODY, SECRET);
  for (const secret of ["", SECRET.slice(6), SECRET.slice(0, -5), `${SECRET}\n`, "whsec_a-_b"]) {
    assert.throws(
      () => webhooks.constructEvent(BODY, headers, secret),
      (error: Error) => error instanceof TypeError && (secret === "" || !error.message.includes(secret)),
    );
  }
  assert.throws(() => webhooks.constructEvent(BODY, headers, []), TypeError);
  assert.throws(() => webhooks.constructEvent(JSON.parse(BODY), headers, SECRET), /raw bytes/);
});
