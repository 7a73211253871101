import { indent, orderJson, type SnippetInput } from "./order";
import { venv } from "./shell";

export function installPython({ packages, shell }: SnippetInput): string | null {
  const python = shell === "powershell" ? "py" : "python3";
  return packages.python && `${python} -m venv venv\n${venv(shell, "pip")} install ${packages.python}`;
}

export function python({ apiBaseUrl, apiKey, reference, shell }: SnippetInput): string {
  return `# Save as place_order.py, then run: ${venv(shell, "python")} place_order.py (Python 3.9 or later)
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
