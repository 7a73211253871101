/** What the clients of all languages share, and the bodies of events. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { TABLES } from "@waybill/client";

test("the tables are those of all languages", async () => {
  const shared = await readFile(new URL("../../../vectors/tables.sql", import.meta.url), "utf8");
  assert.equal(`${TABLES.join(";\n")};\n`, shared);
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
