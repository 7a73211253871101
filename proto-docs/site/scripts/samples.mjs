// The code of one call in each language: with the package of the language if it has the call, otherwise over HTTP.

const ORIGIN = "https://api.delivery.example";
const json = (value) => JSON.stringify(value, null, 2);
const indent = (text, by) => text.replaceAll("\n", `\n${" ".repeat(by)}`);
const quoted = (text) => JSON.stringify(text);

/** What a sample needs of an operation. */
export function callOf(path, method, operation) {
  const example = (name, place) =>
    operation.parameters?.find((one) => one.name === name && one.in === place)?.example;
  const examples = Object.values(operation.requestBody?.content["application/json"].examples ?? {});
  const sizes = examples.map(({ value }) => ({ value, length: json(value).length }));
  const body = sizes.sort((one, other) => one.length - other.length)[0]?.value;
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => example(name, "path"));
  const scheme = Object.keys(operation.security?.[0] ?? {})[0];
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path: filled,
    address: filled.split("/").at(-1),
    entity: filled.match(/(ord|evt)_\w+/)?.[0],
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
    rust: ({ body, key }) =>
      `let order = OrderBody::from_json(r#"${json(body)}"#);\nlet created = waybill.orders.create(order, ${quoted(key)}).await?;\nprintln!("{} {}", created.order.id, created.order.tracking_url);`,
  },
  getOrder: {
    ts: ({ entity }) => `console.log(await waybill.orders.get("${entity}"));`,
    python: ({ entity }) => `print(waybill.orders.get("${entity}"))`,
    rust: ({ entity }) => `println!("{:?}", waybill.orders.get("${entity}").await?);`,
  },
  listOrders: {
    ts: () => "for await (const order of waybill.orders.list()) console.log(order.id, order.status);",
    python: () => 'for order in waybill.orders.list():\n    print(order["id"], order["status"])',
    rust: () =>
      'let mut list = waybill.orders.list(OrderFilters::default());\nwhile let Some(order) = list.next().await? {\n    println!("{} {}", order.id, order.status);\n}',
  },
  listOrderEvents: {
    ts: ({ entity }) =>
      `for await (const entry of waybill.orders.timeline("${entity}")) console.log(entry.id, entry.type);`,
    python: ({ entity }) =>
      `for entry in waybill.orders.timeline("${entity}"):\n    print(entry["id"], entry["type"])`,
    rust: ({ entity }) =>
      `let mut timeline = waybill.orders.timeline("${entity}")?;\nwhile let Some(entry) = timeline.next().await? {\n    println!("{} {}", entry.id, entry.kind);\n}`,
  },
  cancelOrder: {
    ts: ({ entity, body }) =>
      `const order = await waybill.orders.cancel("${entity}", ${json(body)});\nconsole.log(order.status);`,
    python: ({ entity, body }) =>
      `order = waybill.orders.cancel("${entity}", reason=${quoted(body.reason)})\nprint(order["status"])`,
    rust: ({ entity, body }) =>
      `let order = waybill.orders.cancel("${entity}", Some(${quoted(body.reason)})).await?;\nprintln!("{}", order.status);`,
  },
  reattemptOrder: {
    ts: ({ entity, body }) =>
      `const order = await waybill.orders.reattempt("${entity}", ${json(body)});\nconsole.log(order.reattempt);`,
    python: ({ entity, body }) =>
      `order = waybill.orders.reattempt("${entity}", date=${quoted(body.date)})\nprint(order["reattempt"])`,
    rust: ({ entity, body }) =>
      `let reattempt = NewReattempt { date: Some(${quoted(body.date)}.into()), ..Default::default() };\nlet order = waybill.orders.reattempt("${entity}", &reattempt).await?;\nprintln!("{:?}", order.reattempt);`,
  },
  requestReturn: {
    ts: ({ entity }) =>
      `const order = await waybill.orders.requestReturn("${entity}");\nconsole.log(order.returnRequestedAt);`,
    python: ({ entity }) =>
      `order = waybill.orders.request_return("${entity}")\nprint(order["returnRequestedAt"])`,
    rust: ({ entity }) =>
      `let order = waybill.orders.request_return("${entity}").await?;\nprintln!("{:?}", order.return_requested_at);`,
  },
  correctDelivery: {
    ts: ({ entity, body }) =>
      `const order = await waybill.orders.correctDelivery("${entity}", ${json(body)});\nconsole.log(order.customer);`,
    python: ({ entity, body }) =>
      `order = waybill.orders.correct_delivery("${entity}", phone=${quoted(body.phone)})\nprint(order["customer"])`,
    rust: ({ entity, body }) =>
      `let details = NewDeliveryDetails { phone: Some(${quoted(body.phone)}.into()), ..Default::default() };\nlet order = waybill.orders.correct_delivery("${entity}", &details).await?;\nprintln!("{:?}", order.customer);`,
  },
  issueDeliveryCode: {
    ts: ({ entity }) => `console.log(await waybill.orders.issueDeliveryCode("${entity}"));`,
    python: ({ entity }) => `print(waybill.orders.issue_delivery_code("${entity}"))`,
    rust: ({ entity }) => `println!("{}", waybill.orders.issue_delivery_code("${entity}").await?);`,
  },
  getEvidence: {
    ts: ({ entity }) => `console.log(await waybill.orders.evidence("${entity}"));`,
    python: ({ entity }) => `print(waybill.orders.evidence("${entity}"))`,
    rust: ({ entity }) => `println!("{:?}", waybill.orders.evidence("${entity}").await?);`,
  },
  simulateOrder: {
    ts: ({ entity, body }) =>
      `console.log(await waybill.orders.simulate("${entity}", ${quoted(body.event)}));`,
    python: ({ entity, body }) => `print(waybill.orders.simulate("${entity}", ${quoted(body.event)}))`,
    rust: ({ entity, body }) =>
      `println!("{:?}", waybill.orders.simulate("${entity}", ${quoted(body.event)}).await?);`,
  },
  listEvents: {
    ts: () => "for await (const event of waybill.events.list()) console.log(event.id, event.event);",
    python: () => 'for event in waybill.events.list():\n    print(event["id"], event["event"])',
    rust: () =>
      'let mut list = waybill.events.list(EventFilters::default());\nwhile let Some(event) = list.next().await? {\n    println!("{} {}", event.id, event.event);\n}',
  },
  getEvent: {
    ts: ({ entity }) => `console.log(await waybill.events.get("${entity}"));`,
    python: ({ entity }) => `print(waybill.events.get("${entity}"))`,
    rust: ({ entity }) => `println!("{:?}", waybill.events.get("${entity}").await?);`,
  },
};

const RUST_TYPES = ["EventFilters", "NewDeliveryDetails", "NewReattempt", "OrderBody", "OrderFilters"];

function withPackage(call) {
  const own = WITH_PACKAGE[call.id];
  if (!own) return [];
  const rust = own.rust(call);
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
      `use waybill_client::{${types.join(", ")}};\n\n#[tokio::main]\nasync fn main() -> anyhow::Result<()> {\n    let waybill = Waybill::from_env(ClientOptions::default())?;\n    ${indent(rust, 4)}\n    Ok(())\n}`,
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
  ];
}
