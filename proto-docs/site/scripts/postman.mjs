// A collection for Postman; Bruno and Insomnia import it too.
import { CALLS } from "./reference.mjs";
import { callOf } from "./samples.mjs";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
const bearer = (variable) => ({
  type: "bearer",
  bearer: [{ key: "token", value: `{{${variable}}}`, type: "string" }],
});

function request({ path, method, operation }) {
  const call = callOf(path, method, operation);
  const base = call.path.startsWith("/v1/") ? "{{baseUrl}}" : "{{origin}}";
  const segments = call.path.split("/").slice(call.path.startsWith("/v1/") ? 2 : 1);
  const query = operation.parameters?.filter((one) => one.in === "query") ?? [];
  const header = [
    call.key && { key: "Idempotency-Key", value: call.key },
    call.body && { key: "Content-Type", value: "application/json" },
  ].filter(Boolean);
  return {
    name: operation.summary,
    request: {
      method: call.method,
      description: operation.description,
      auth: call.variable
        ? bearer({ WAYBILL_API_KEY: "apiKey", WAYBILL_FLEET_TOKEN: "fleetToken" }[call.variable])
        : { type: "noauth" },
      header,
      url: {
        raw: [base, ...segments].join("/"),
        host: [base],
        path: segments,
        query: query.map(({ name, description }) => ({ key: name, value: "", description, disabled: true })),
      },
      ...(call.body && {
        body: {
          mode: "raw",
          raw: JSON.stringify(call.body, null, 2),
          options: { raw: { language: "json" } },
        },
      }),
    },
  };
}

export const collection = () => ({
  info: { name: "OPERATORBRAND API", schema: SCHEMA },
  variable: [
    { key: "origin", value: "https://api.delivery.example" },
    { key: "baseUrl", value: "https://api.delivery.example/v1" },
    { key: "apiKey", value: "" },
    { key: "fleetToken", value: "" },
  ],
  item: CALLS.map(([name, calls]) => ({ name, item: calls.map(request) })),
});
