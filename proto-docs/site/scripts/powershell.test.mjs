import assert from "node:assert/strict";
import { test } from "node:test";
import { powershellOf } from "./powershell.mjs";
import { callOf, samples } from "./samples.mjs";

test("variables, ends of lines and the name of the program are PowerShell's", () => {
  const sh = `curl -sS "$WAYBILL_BASE_URL/integration/orders" \\\n  -H "Authorization: Bearer $WAYBILL_API_KEY"`;
  const expected = `curl.exe -sS "$env:WAYBILL_BASE_URL/integration/orders" \`\n  -H "Authorization: Bearer $env:WAYBILL_API_KEY"`;
  assert.equal(powershellOf(sh), expected);
  assert.equal(powershellOf("export WAYBILL_API_KEY='sk_test_…'\n"), "$env:WAYBILL_API_KEY = 'sk_test_…'\n");
});

test("a body is unchanged, and goes through standard input", () => {
  const example = { value: { name: 'A "quoted" $NAME', items: [1] } };
  const requestBody = { content: { "application/json": { examples: { example } } } };
  const operation = { operationId: "reportEvent", requestBody, security: [{ fleetToken: [] }] };
  const [, , text] = samples(callOf("/v1/fleet/orders", "post", operation)).at(-1);
  const [body, call] = text.split("\n'@ | ");
  assert.deepEqual(JSON.parse(body.replace(/^@'\n/, "")), example.value);
  const lines = call.split("\n");
  assert.equal(lines[0], 'curl.exe -sS "$env:WAYBILL_BASE_URL/fleet/orders" `');
  assert.equal(lines.at(-1), "  -d '@-'");
  assert.ok(lines.slice(0, -1).every((line) => line.endsWith(" `")));
});
