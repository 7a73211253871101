import { orderJson, type SnippetInput } from "./order";

/** JSON as PHP arrays. */
function literal(json: string): string {
  return json
    .replace(/"(\w+)": /g, "'$1' => ")
    .replace(/\{/g, "[")
    .replace(/\}/g, "]")
    .replace(/"([^"]*)"/g, "'$1'");
}

export function php({ apiBaseUrl, apiKey, reference }: SnippetInput): string {
  return `<?php
// Save as place-order.php, then run: php place-order.php (nothing to install)
$apiKey = getenv('WAYBILL_API_KEY') ?: '${apiKey}';

$order = ${literal(orderJson(reference))};

$body = file_get_contents('${apiBaseUrl}/integration/orders', false, stream_context_create([
    'http' => [
        'method' => 'POST',
        'header' => [
            "Authorization: Bearer $apiKey",
            "Idempotency-Key: {$order['orderReference']}",
            'Content-Type: application/json',
        ],
        'content' => json_encode($order),
        'ignore_errors' => true,
    ],
]));

echo $body, "\\n";`;
}
