import { indent, orderJson, type SnippetInput } from "./order";

export function installNode({ packages }: SnippetInput): string | null {
  return packages.npm && `npm init --yes\nnpm install ${packages.npm}`;
}

/** JSON with unquoted keys, in JavaScript's usual style. */
function literal(json: string): string {
  return json.replace(/"(\w+)":/g, "$1:");
}

export function node({ apiBaseUrl, apiKey, reference }: SnippetInput): string {
  return `// Save as place-order.mjs, then run: node place-order.mjs (Node.js 20.3 or later)
import { Waybill } from "@waybill/client";

const apiKey = process.env.WAYBILL_API_KEY ?? "${apiKey}";
const waybill = new Waybill({ apiKey, baseUrl: "${apiBaseUrl}" });

const order = await waybill.orders.create(
  ${indent(literal(orderJson(reference)), "  ")},
  { idempotencyKey: "${reference}" },
);
console.log(order.id, order.trackingUrl);`;
}
