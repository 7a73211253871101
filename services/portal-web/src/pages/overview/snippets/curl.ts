import { orderJson, type SnippetInput } from "./order";

export function curl({ apiBaseUrl, apiKey, reference }: SnippetInput): string {
  return `curl -sS -i '${apiBaseUrl}/integration/orders' \\
  -H 'Authorization: Bearer ${apiKey}' \\
  -H 'Idempotency-Key: ${reference}' \\
  -H 'Content-Type: application/json' \\
  -d '${orderJson(reference)}'`;
}
