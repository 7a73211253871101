import { indent, orderJson, type SnippetInput } from "./order";
import { nodeProgram } from "./shell";

export function installNode({ packages, shell }: SnippetInput): string | null {
  const npm = nodeProgram(shell, "npm");
  return packages.npm && `${npm} init --yes\n${npm} install ${packages.npm}`;
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
