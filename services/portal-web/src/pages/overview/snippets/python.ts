import { orderJson, type SnippetInput } from "./order";

export function python({ apiBaseUrl, apiKey, reference }: SnippetInput): string {
  return `# Save as place_order.py, then run: python3 place_order.py (nothing to install)
import json
import os
import urllib.error
import urllib.request

api_key = os.environ.get("DELIVERY_API_KEY", "${apiKey}")

order = ${orderJson(reference)}

request = urllib.request.Request(
    "${apiBaseUrl}/integration/orders",
    data=json.dumps(order).encode(),
    headers={
        "Authorization": f"Bearer {api_key}",
        "Idempotency-Key": order["orderReference"],
        "Content-Type": "application/json",
    },
    method="POST",
)

try:
    with urllib.request.urlopen(request) as response:
        print(response.status, json.load(response))
except urllib.error.HTTPError as refused:
    print(refused.code, json.load(refused))`;
}
