/** What the clients of all languages share, and the bodies of events. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { errorOf, indianPhone, TABLES, Waybill, webhooks } from "@waybill/client";

test("the tables are those of all languages", async () => {
  const shared = await readFile(new URL("../../../vectors/tables.sql", import.meta.url), "utf8");
  assert.equal(`${TABLES.join(";\n")};\n`, shared);
});

test("ten digits of an Indian number get the country code", async () => {
  const shared = await readFile(new URL("../../../vectors/indian-phones.json", import.meta.url), "utf8");
  for (const { given, expected } of JSON.parse(shared)) assert.equal(indianPhone(given), expected, given);
});

test("a missing argument or variable of the environment is named", async () => {
  const apiKey = `sk_test_waybill_${"0".repeat(36)}`;
  const baseUrl = "http://127.0.0.1:1/v1";
  const headers = {};
  const { create } = new Waybill({ apiKey, baseUrl }).orders as unknown as { create(order: object): unknown };
  await assert.rejects(
    async () => create.call(new Waybill({ apiKey, baseUrl }).orders, {}),
    /pass \{ idempotencyKey \}/,
  );
  assert.throws(
    () => new Waybill({ apiKey: "", baseUrl }),
    /^TypeError: set WAYBILL_API_KEY to your API key/,
  );
  assert.throws(() => new Waybill({ apiKey, baseUrl: "" }), /^TypeError: set WAYBILL_BASE_URL to the API's/);
  for (const missing of [undefined, "", [undefined]] as unknown as string[]) {
    assert.throws(() => webhooks.constructEvent("{}", headers, missing), /the signing secret is missing/);
  }
});

test("an error about the whole body is kept", () => {
  const errors = [{ field: "", code: "invalid_type", message: "The body must be a JSON object." }];
  assert.deepEqual(errorOf(400, { errors }).errors, errors);
});

test("every member of an error's body can be read, without keys", () => {
  const body: Parameters<typeof errorOf>[1] = { code: "illegal_transition", status: "delivered", legal: [] };
  const refused = errorOf(409, body);
  assert.deepEqual([refused.status, refused.body], [409, body]);
  const differences = ["customer.name", "sk_live_abc"];
  const reused = errorOf(422, { code: "idempotency_key_reused", differences });
  assert.deepEqual(reused.body.differences, ["customer.name", "sk_live_…"]);
  assert.equal(errorOf(403, { requiredScope: "orders:read" }).body.requiredScope, "orders:read");
});

test("the bodies of events are the bytes that were sent", async () => {
  const { elementsOf } = await import(new URL("../elements.js", import.meta.url).href);
  const sent = ['{"a":"],[{\\"", "b": [1, {"data":[2,3]}]}', '{"n":1.0,"\\u00e9":"é☕"}', "{}"];
  const text = `{"other":["data",[4]], "next":"data", "data" : [\n${sent[0]} ,\t${sent[1]},${sent[2]} ],"hasMore":true}`;
  assert.deepEqual(elementsOf(text), sent);
  assert.deepEqual(
    elementsOf(text).map((each: string) => JSON.parse(each)),
    JSON.parse(text).data,
  );
  for (const empty of ['{"data":[]}', '{"data":[ ],"next":"x"}', '{"next":[1]}']) {
    assert.deepEqual(elementsOf(empty), []);
  }
});
