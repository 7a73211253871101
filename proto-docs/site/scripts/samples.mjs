// The code of one call in each language: with the package of the language if it has the call, otherwise over HTTP.
import { read } from "./outline.mjs";
import { powershellOf } from "./powershell.mjs";

const ORIGIN = "https://api.delivery.example";
const json = (value) => JSON.stringify(value, null, 2);
const indent = (text, by) => text.replaceAll("\n", `\n${" ".repeat(by)}`);
const quoted = (text) => JSON.stringify(text);

/** What the reader replaces. The API's errors explain `ord_…`. */
export const PLACEHOLDERS = [
  ["ord_…", "your order"],
  ["evt_…", "an event"],
];
const withPlaceholder = (id) => id.replace(/^(ord|evt)_\w+$/, "$1_…");

/** What a sample needs of an operation. */
export function callOf(path, method, operation) {
  const example = (name, place) =>
    operation.parameters?.find((one) => one.name === name && one.in === place)?.example;
  const examples = Object.values(operation.requestBody?.content["application/json"].examples ?? {});
  const sizes = examples.map(({ value }) => ({ value, length: json(value).length }));
  const body = sizes.sort((one, other) => one.length - other.length)[0]?.value;
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => withPlaceholder(example(name, "path")));
  const scheme = Object.keys(operation.security?.[0] ?? {})[0];
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path: filled,
    address: filled.split("/").at(-1),
    entity: filled.match(/(ord|evt)_…/)?.[0],
    key: example("Idempotency-Key", "header"),
    variable: { apiKey: "WAYBILL_API_KEY", fleetToken: "WAYBILL_FLEET_TOKEN" }[scheme],
    body,
  };
}

function curl({ method, path, variable, key, body }) {
  const url = path.startsWith("/v1/") ? `$WAYBILL_BASE_URL${path.slice(3)}` : `${ORIGIN}${path}`;
  const lines = [`curl -sS "${url}"`];
  if (method !== "GET" && !body) lines.push(`-X ${method}`);
  if (variable) lines.push(`-H "Authorization: Bearer $${variable}"`);
  if (key) lines.push(`-H "Idempotency-Key: ${key}"`);
  if (body) lines.push('-H "Content-Type: application/json"', `-d '${indent(json(body), 2)}'`);
  return lines.join(" \\\n  ");
}

/** The expression with the package, and how its result is printed. */
const WITH_PACKAGE = {
  createOrder: {
    ts: ({ body, key }) =>
      `const order = await waybill.orders.create(${json(body)}, { idempotencyKey: ${quoted(key)} });\nconsole.log(order.id, order.trackingUrl);`,
    python: ({ body, key }) =>
      `created = waybill.orders.create(${json(body)}, idempotency_key=${quoted(key)})\nprint(created.order["id"], created.order["trackingUrl"])`,
  },
  getOrder: {
    ts: ({ entity }) => `console.log(await waybill.orders.get("${entity}"));`,
    python: ({ entity }) => `print(waybill.orders.get("${entity}"))`,
  },
  listOrders: {
    ts: () => "for await (const order of waybill.orders.list()) console.log(order.id, order.status);",
    python: () => 'for order in waybill.orders.list():\n    print(order["id"], order["status"])',
  },
  listOrderEvents: {
    ts: ({ entity }) =>
      `for await (const entry of waybill.orders.timeline("${entity}")) console.log(entry.id, entry.type);`,
    python: ({ entity }) =>
      `for entry in waybill.orders.timeline("${entity}"):\n    print(entry["id"], entry["type"])`,
  },
  cancelOrder: {
    ts: ({ entity, body }) =>
      `const order = await waybill.orders.cancel("${entity}", ${json(body)});\nconsole.log(order.status);`,
    python: ({ entity, body }) =>
      `order = waybill.orders.cancel("${entity}", reason=${quoted(body.reason)})\nprint(order["status"])`,
  },
  reattemptOrder: {
    ts: ({ entity, body }) =>
      `const order = await waybill.orders.reattempt("${entity}", ${json(body)});\nconsole.log(order.reattempt);`,
    python: ({ entity, body }) =>
      `order = waybill.orders.reattempt("${entity}", note=${quoted(body.note)})\nprint(order["reattempt"])`,
  },
  requestReturn: {
    ts: ({ entity }) =>
      `const order = await waybill.orders.requestReturn("${entity}");\nconsole.log(order.returnRequestedAt);`,
    python: ({ entity }) =>
      `order = waybill.orders.request_return("${entity}")\nprint(order["returnRequestedAt"])`,
  },
  correctDelivery: {
    ts: ({ entity, body }) =>
      `const order = await waybill.orders.correctDelivery("${entity}", ${json(body)});\nconsole.log(order.customer);`,
    python: ({ entity, body }) =>
      `order = waybill.orders.correct_delivery("${entity}", phone=${quoted(body.phone)})\nprint(order["customer"])`,
  },
  issueDeliveryCode: {
    ts: ({ entity }) => `console.log(await waybill.orders.issueDeliveryCode("${entity}"));`,
    python: ({ entity }) => `print(waybill.orders.issue_delivery_code("${entity}"))`,
  },
  getEvidence: {
    ts: ({ entity }) => `console.log(await waybill.orders.evidence("${entity}"));`,
    python: ({ entity }) => `print(waybill.orders.evidence("${entity}"))`,
  },
  simulateOrder: {
    ts: ({ entity, body }) =>
      `console.log(await waybill.orders.simulate("${entity}", ${quoted(body.event)}));`,
    python: ({ entity, body }) => `print(waybill.orders.simulate("${entity}", ${quoted(body.event)}))`,
  },
  listEvents: {
    ts: () => "for await (const event of waybill.events.list()) console.log(event.id, event.event);",
    python: () => 'for event in waybill.events.list():\n    print(event["id"], event["event"])',
  },
  getEvent: {
    ts: ({ entity }) => `console.log(await waybill.events.get("${entity}"));`,
    python: ({ entity }) => `print(waybill.events.get("${entity}"))`,
  },
};

const RUST_TYPES = ["EventFilters", "NewDeliveryDetails", "NewReattempt", "OrderBody", "OrderFilters"];
/** An example of the client, so that the code is compiled. */
const RUST = read("proto-docs/clients/rust/examples/calls.rs");

/** The values in a body. */
const leaves = (value) =>
  value && typeof value === "object" ? Object.values(value).flatMap(leaves) : [String(value)];

/** The body of the function of the call, with the values of the document. */
function rustOf({ id, entity, key, body }) {
  const name = id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const [, code] =
    RUST.match(new RegExp(`async fn ${name}\\(.*\\n([\\s\\S]*?)\\n    Ok\\(\\(\\)\\)\\n}`)) ?? [];
  const values = [entity, key, ...(body ? leaves(body) : [])].filter(Boolean);
  const missing = values.filter((value) => !code?.includes(value));
  if (!code || missing.length > 0) throw new Error(`calls.rs: ${name} lacks ${missing.join(", ")}`);
  return code;
}

function withPackage(call) {
  const own = WITH_PACKAGE[call.id];
  if (!own) return [];
  const rust = rustOf(call);
  const types = [
    "ClientOptions",
    ...RUST_TYPES.filter((name) => rust.includes(`${name}::`) || rust.includes(`${name} {`)),
    "Waybill",
  ];
  return [
    [
      "TypeScript",
      "ts",
      `import { Waybill } from "@waybill/client";\n\nconst waybill = new Waybill();\n${own.ts(call)}`,
    ],
    ["Python", "python", `from waybill import Waybill\n\nwaybill = Waybill()\n${own.python(call)}`],
    [
      "Rust",
      "rust",
      `use waybill_client::{${types.join(", ")}};\n\n#[tokio::main]\nasync fn main() -> anyhow::Result<()> {\n    let waybill = Waybill::from_env(ClientOptions::default())?;\n${rust}\n    Ok(())\n}`,
    ],
  ];
}

/** The headers of a call, each as `[name, text before the variable, variable]`. */
function headersOf({ variable, key, body }) {
  return [
    variable && ["Authorization", "Bearer ", variable],
    key && ["Idempotency-Key", key],
    body && ["Content-Type", "application/json"],
  ].filter(Boolean);
}

function php(call) {
  const { method, path, body } = call;
  const headers = headersOf(call).map(([name, text, variable]) =>
    variable ? `        '${name}: ${text}' . getenv('${variable}'),` : `        '${name}: ${text}',`,
  );
  return [
    "<?php",
    `$call = curl_init(${path.startsWith("/v1/") ? `getenv('WAYBILL_BASE_URL') . '${path.slice(3)}'` : `'${ORIGIN}${path}'`});`,
    "curl_setopt_array($call, [",
    `    CURLOPT_CUSTOMREQUEST => '${method}',`,
    "    CURLOPT_RETURNTRANSFER => true,",
    "    CURLOPT_TIMEOUT => 15,",
    headers.length ? `    CURLOPT_HTTPHEADER => [\n${headers.join("\n")}\n    ],` : null,
    body && `    CURLOPT_POSTFIELDS => <<<'JSON'\n${json(body)}\nJSON,`,
    "]);",
    "$answer = curl_exec($call);",
    "// 0 if no answer arrived: repeat the same request.",
    "$status = curl_getinfo($call, CURLINFO_RESPONSE_CODE);",
    "echo $status, ' ', $answer, PHP_EOL;",
  ]
    .filter((line) => line !== null && line !== undefined)
    .join("\n");
}

function java(call) {
  const { method, path, body } = call;
  const url = path.startsWith("/v1/")
    ? `System.getenv("WAYBILL_BASE_URL") + "${path.slice(3)}"`
    : quoted(`${ORIGIN}${path}`);
  const headers = headersOf(call).map(([name, text, variable]) =>
    variable
      ? `            .header("${name}", "${text}" + System.getenv("${variable}"))`
      : `            .header("${name}", ${quoted(text)})`,
  );
  const publisher = body
    ? `BodyPublishers.ofString("""\n            ${indent(json(body), 12)}\n            """)`
    : "BodyPublishers.noBody()";
  return [
    "import java.net.URI;",
    "import java.net.http.HttpClient;",
    "import java.net.http.HttpRequest;",
    "import java.net.http.HttpRequest.BodyPublishers;",
    "import java.net.http.HttpResponse.BodyHandlers;",
    "import java.time.Duration;",
    "",
    "public class Call {",
    "    public static void main(String[] arguments) throws Exception {",
    `        var request = HttpRequest.newBuilder(URI.create(${url}))`,
    "            .timeout(Duration.ofSeconds(15))",
    ...headers,
    `            .method("${method}", ${publisher})`,
    "            .build();",
    "        var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());",
    '        System.out.println(answer.statusCode() + " " + answer.body());',
    "    }",
    "}",
  ].join("\n");
}

/** `[language, name of its highlighting, code]` of each language. */
export function samples(call) {
  return [
    ["curl", "sh", curl(call)],
    ...withPackage(call),
    ["PHP", "php", php(call)],
    ["Java", "java", java(call)],
    ["PowerShell", "powershell", powershellOf(curl(call))],
  ];
}
