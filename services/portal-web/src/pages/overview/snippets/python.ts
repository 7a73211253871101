import { indent, orderJson, type SnippetInput } from "./order";

export function installPython({ packages }: SnippetInput): string {
  return `python3 -m venv venv\nvenv/bin/pip install ${packages.python}`;
}

export function python({ apiBaseUrl, apiKey, reference }: SnippetInput): string {
  return `# Save as place_order.py, then run: venv/bin/python place_order.py (Python 3.9 or later)
import os

from waybill import Waybill

api_key = os.environ.get("WAYBILL_API_KEY", "${apiKey}")
waybill = Waybill(api_key, "${apiBaseUrl}")

created = waybill.orders.create(
    ${indent(orderJson(reference), "    ")},
    idempotency_key="${reference}",
)
print(created.order["id"], created.order["trackingUrl"])`;
}
