import { orderJson, type SnippetInput } from "./order";

export function curl({ shell, apiBaseUrl, apiKey, reference }: SnippetInput): string {
  const call = [
    `-sS -i '${apiBaseUrl}/integration/orders'`,
    `-H 'Authorization: Bearer ${apiKey}'`,
    `-H 'Idempotency-Key: ${reference}'`,
    "-H 'Content-Type: application/json'",
  ];
  if (shell === "powershell") {
    // By standard input, because PowerShell 5 loses the quotes in a parameter.
    return `@'\n${orderJson(reference)}\n'@ | curl.exe ${[...call, "-d '@-'"].join(" `\n  ")}`;
  }
  return `curl ${[...call, `-d '${orderJson(reference)}'`].join(" \\\n  ")}`;
}
