import { orderJson, type SnippetInput } from "./order";

/** JSON with unquoted keys, in JavaScript's usual style. */
function literal(json: string): string {
  return json.replace(/"(\w+)":/g, "$1:");
}

export function node({ apiBaseUrl, apiKey, reference }: SnippetInput): string {
  return `// Save as place-order.mjs, then run: node place-order.mjs (Node.js 18 or later)
const apiKey = process.env.DELIVERY_API_KEY ?? "${apiKey}";

const order = ${literal(orderJson(reference))};

const response = await fetch("${apiBaseUrl}/integration/orders", {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${apiKey}\`,
    "Idempotency-Key": order.orderReference,
    "Content-Type": "application/json",
  },
  body: JSON.stringify(order),
});

console.log(response.status, await response.json());`;
}
