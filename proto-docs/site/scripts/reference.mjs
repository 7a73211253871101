// The pages of the calls, the kinds of events and the errors, from the OpenAPI document.
import { readFileSync } from "node:fs";
import { codeTabs } from "./markdown.mjs";
import { read } from "./outline.mjs";
import { callOf, PLACEHOLDERS, samples } from "./samples.mjs";
import { asList, fieldTables } from "./schema.mjs";

/** Its texts name the default brand. */
export const DOCUMENT = JSON.parse(
  read("proto-docs/openapi/order-api.json").replace(/\bWaybill\b/g, "OPERATORBRAND"),
);
const { resolve, rows, parameter } = fieldTables(DOCUMENT, ["WebhookEvent"]);
const CAUSES = JSON.parse(readFileSync(new URL("../pages/errors.json", import.meta.url), "utf8"));

/** Whether the same request can be sent again: the values of `retry` in pages/errors.json. */
const RETRY = {
  wait: "Yes: the same request, after the seconds of `Retry-After` if the response has it.",
  cause: "Only when the cause is gone: then the same request.",
  key: "Not with the same key or token. With a valid one, the same request, after the seconds of `Retry-After` if the response has it.",
  no: "Not the same request.",
};

/** Only a new order has an Idempotency-Key, and only a simulated event is another one when it is repeated. */
function retryOf(code, status, calls) {
  const { retry } = CAUSES[code];
  const has = (id) => calls.length === 0 || calls.some((call) => call.id === id);
  return [
    RETRY[retry],
    retry !== "no" &&
      has("createOrder") &&
      "A new order is repeated with the same Idempotency-Key and the same body.",
    Number(status) >= 500 &&
      has("simulateOrder") &&
      "Read a test order before you repeat a simulated event: the first one may have happened.",
  ]
    .filter(Boolean)
    .join(" ");
}

/** What `data` of a kind can contain; the document has one schema for most kinds. The fleet may add these to any other kind. */
const REPORTED = ["driver", "reason"];
const CASH = ["codAmountPaise", ...REPORTED];
const DATA = {
  "order.created": [],
  "order.delivered": ["evidence", ...REPORTED],
  "order.failed": ["reason", "reasonCode", "evidence", "driver"],
  "order.cancelled": [...REPORTED, "requestedBy"],
  "order.reattempt_scheduled": ["reattempt", "requestedBy"],
  "order.returning": ["reasonCode", "requestedBy"],
  "cod.collected": CASH,
  "cod.handed_over": CASH,
  "cod.settled": [...CASH, "remittance"],
  "wallet.low_balance": ["balancePaise", "thresholdPaise"],
  "webhook.test": ["reason"],
};

/** What the document does not say about a kind. */
const NOTES = {
  "order.failed":
    "The event does not say whether the attempt failed before or after the pickup: [get the order](/reference/get-order), scope `orders:read`, and read `reattemptPossible` ([failed deliveries](/failed-deliveries)).",
};

/** The order of reading. A call that is missing here stops the build. Names of calls that the document lacks are skipped. */
const GROUPS = [
  [
    "Orders",
    "createOrder getOrder listOrders listOrderEvents cancelOrder correctDelivery issueDeliveryCode reattemptOrder requestReturn getEvidence simulateOrder",
  ],
  ["Events feed", "listEvents getEvent"],
  ["Tracking", "getTracking getTrackingPage"],
  ["Fleet", "listFleetOrders reportProgress"],
];

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
export const pageOfCall = (id) => `reference/${kebab(id)}`;
const json = (value) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const callers = { apiKey: "[API key](/#keys)", fleetToken: "fleet token" };

const ALL = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method,
    operation,
    id: operation.operationId,
  })),
);
const listed = GROUPS.flatMap(([, ids]) => ids.split(" "));
for (const { id } of ALL)
  if (!listed.includes(id)) throw new Error(`${id} is in no group of scripts/reference.mjs`);

/** `[title, calls]` of each group. */
export const CALLS = GROUPS.map(([title, ids]) => [
  title,
  ids.split(" ").flatMap((id) => ALL.filter((one) => one.id === id)),
]);

/** The examples of an error answer, without forms of the same code. */
const errorsOf = (answer) => {
  const examples = Object.values(answer.content?.["application/json"]?.examples ?? {}).map(
    ({ value }) => value,
  );
  return examples.filter(({ code }, at) => code && examples.findIndex((other) => other.code === code) === at);
};

function errorTable(operation) {
  const lines = Object.entries(operation.responses).flatMap(([status, described]) =>
    errorsOf(resolve(described))
      .filter(() => !status.startsWith("2"))
      .map(({ code }) => `| ${status} | [\`${code}\`](/errors/${code}) | ${CAUSES[code].cause} |`),
  );
  return ["| status | code | cause |", "| --- | --- | --- |", ...lines].join("\n");
}

function answersOf(operation) {
  const good = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
  return good.flatMap(([status, described]) => {
    const answer = resolve(described);
    const media = answer.content?.["application/json"];
    const headers = Object.keys(answer.headers ?? {}).map((name) => `\`${name}\``);
    const example = Object.values(media?.examples ?? {})[0]?.value ?? media?.example;
    return [
      `## Response ${status}`,
      answer.description,
      headers.length ? `Headers: ${headers.join(", ")}` : "",
      example === undefined ? "" : json(example),
      media?.schema ? `### Fields of the response\n\n${fieldsOf(media.schema)}` : "",
    ];
  });
}

/** Readers run the samples: these have no id of ours, no day that passes, and no order of the guides. */
const NOT_IN_SAMPLES = /(?:ord|evt)_\w{26}|"date": "20|"orderReference": "100\d"/;

/** Events have a page of their own. */
const OF_FEED =
  "Each event is one of the [kinds of events](/reference/events), as the body of its webhook. `wallet.low_balance` and `webhook.test` are about no order of yours, and not in the feed.";

function fieldsOf(schema) {
  const found = rows(schema);
  const isOfEvents =
    JSON.stringify(schema).includes("/WebhookEvent") ||
    JSON.stringify(resolve(schema)).includes("/WebhookEvent");
  return [found.length ? asList(found) : "", isOfEvents ? OF_FEED : ""].filter(Boolean).join("\n\n");
}

function callPage({ path, method, operation }) {
  const caller = callers[Object.keys(operation.security?.[0] ?? {})[0]];
  const body = operation.requestBody?.content["application/json"];
  const examples = Object.values(body?.examples ?? {});
  const call = callOf(path, method, operation);
  const code = codeTabs(samples(call));
  const bad = code.match(NOT_IN_SAMPLES);
  if (bad) throw new Error(`the sample of ${call.id} has ${bad[0]}`);
  const placeholder = PLACEHOLDERS.find(([text]) => call.path.includes(text));
  return [
    `# ${operation.summary}`,
    `<p class="call"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>`,
    caller ? `Authentication: ${caller}` : "No authentication.",
    operation.description,
    "## Example",
    placeholder ? `Replace \`${placeholder[0]}\` with the id of ${placeholder[1]}.` : "",
    code,
    operation.parameters?.length ? `## Parameters\n\n${asList(operation.parameters.map(parameter))}` : "",
    body ? `## Body\n\n${asList(rows(body.schema))}` : "",
    ...(examples.length > 1 ? examples.map(({ summary, value }) => `### ${summary}\n\n${json(value)}`) : []),
    ...answersOf(operation),
    "## Errors",
    errorTable(operation),
  ].join("\n\n");
}

/** Every error with an example: `{ status, body, calls }` by its code. */
export const ERRORS = new Map();
function addErrors(responses, call) {
  for (const [status, described] of Object.entries(responses)) {
    if (status.startsWith("2")) continue;
    for (const body of errorsOf(resolve(described))) {
      const known = ERRORS.get(body.code) ?? { status, body, calls: [] };
      if (call && !known.calls.includes(call)) known.calls.push(call);
      ERRORS.set(body.code, known);
    }
  }
}
for (const call of ALL) addErrors(call.operation.responses, call);
addErrors(DOCUMENT["x-refusals-of-other-calls"]);
for (const code of ERRORS.keys())
  if (!RETRY[CAUSES[code]?.retry]) throw new Error(`pages/errors.json lacks ${code}, or its kind of retry`);

function errorPage(code, { status, body, calls }) {
  return [
    `# ${code}`,
    `<p class="call"><span class="method error">${status}</span> <code>${code}</code></p>`,
    `**Cause.** ${CAUSES[code].cause}`,
    `**What to do.** ${CAUSES[code].fix}`,
    `**Retry.** ${retryOf(code, status, calls)}`,
    "## Example",
    json({ ...body, docs: `https://api.delivery.example/docs/errors/${code}` }),
    calls.length ? "## Calls" : "## Calls\n\nAny.",
    calls.map(({ id, operation }) => `- [${operation.summary}](/${pageOfCall(id)})`).join("\n"),
  ].join("\n\n");
}

function errorsPage() {
  const lines = [...ERRORS]
    .sort()
    .map(([code, { status }]) => `| [\`${code}\`](/errors/${code}) | ${status} | ${CAUSES[code].cause} |`);
  const faults = DOCUMENT.components.schemas.FaultCode.anyOf[0].enum.map((word) => `\`${word}\``).join(", ");
  return [
    "# Errors",
    "Every error has the same body: `message` for people, `code` for programs, and `requestId`, which the operator needs when you ask for help. `docs` is the address of the code's page here. Programs decide by `code` and status, never by `message`.",
    "`Retry-After` is a number of seconds. [What each status means](/#errors), and when to retry.",
    'The packages have common members as properties of the error, and the whole body in `body`: `error.body.differences` in TypeScript, `error.body["differences"]` in Python and Rust.',
    "| code | status | cause |\n| --- | --- | --- |",
    lines.join("\n"),
    "## Codes of fields",
    `Each entry of \`errors\` in [\`invalid_request\`](/errors/invalid_request) has its own \`code\`: ${faults}. More may be added. [Codes of warnings](/requests#fields).`,
  ]
    .join("\n\n")
    .replace("| --- |\n\n", "| --- |\n");
}

/** The schema and an example of each kind of event, in the order of the document. */
function eventsPage() {
  const { requestBody, description } = DOCUMENT.webhooks.orderEvent.post;
  const media = requestBody.content["application/json"];
  const examples = Object.values(media.examples).map(({ value }) => value);
  const kinds = resolve(media.schema)
    .oneOf.map(resolve)
    .filter((kind) => kind.properties.event.enum);
  const exampleOf = (name) => {
    const found = examples.find((one) => one.event === name);
    if (!found) throw new Error(`the OpenAPI document has no example of ${name}`);
    return found;
  };
  const section = (kind) => {
    const name = kind.properties.event.enum[0];
    const carried = DATA[name] ?? REPORTED;
    const unlisted = Object.keys(exampleOf(name).data).find((field) => !carried.includes(field));
    if (unlisted) throw new Error(`DATA of scripts/reference.mjs lacks ${unlisted} of ${name}`);
    const data = rows(kind.properties.data).filter((row) => carried.includes(row.name?.split(".")[0]));
    return [
      `## ${name}`,
      kind.description,
      ...(NOTES[name] ? [NOTES[name]] : []),
      json(exampleOf(name)),
      data.length ? `**Fields of \`data\`**\n\n${asList(data)}` : "`data` is empty.",
    ];
  };
  return [
    "# Kinds of events",
    description,
    "Each kind below has a body as your endpoint receives it. The events feed has the same bodies. [Headers and signatures](/webhook-reference#what-arrives) are the same for all kinds.",
    "## Fields of every event",
    asList(
      rows(kinds[0])
        .filter(({ name }) => !name.startsWith("data."))
        .map((row) => ofEveryKind(row, kinds)),
    ),
    ...kinds.flatMap(section),
  ].join("\n\n");
}

/** Each kind has its own name. Some kinds have null where others have a value. */
function ofEveryKind(row, kinds) {
  if (row.name === "event") return { ...row, bounds: "one of the kinds below" };
  const withNull = kinds.filter(({ properties }) => resolve(properties[row.name]).type === "null");
  if (withNull.length === 0) return row;
  const names = withNull.map(({ properties }) => `\`${properties.event.enum[0]}\``).join(", ");
  return { ...row, kind: `${row.kind} or null`, bounds: `null in ${names}` };
}

/** The home page: the introduction, and the calls under the anchors that the former single page had. */
function homePage(home) {
  const group = ([title, calls]) => [
    `<h3 id="group-${title.split(" ")[0]}">${title}</h3>`,
    calls
      .map(
        ({ id, method, path, operation }) =>
          `- <a id="${id}"></a>[${operation.summary}](/${pageOfCall(id)}) \`${method.toUpperCase()} ${path}\``,
      )
      .join("\n"),
  ];
  return [
    `# OPERATORBRAND API`,
    home,
    withoutNames(DOCUMENT.info.description),
    "## All calls",
    ...CALLS.flatMap(group),
    '<h3 id="group-Webhooks">Webhooks</h3>',
    '- <a id="receiveWebhook"></a>[Kinds of events](/reference/events)',
  ].join("\n\n");
}

/** The document's texts have the name of no operator. */
const withoutNames = (text) => text.replace(/^# .*$/m, "");

/** `[path, text]` of every page of the reference. */
export function referencePages(home) {
  const source = "proto-docs/openapi/order-api.json";
  return [
    ["index", homePage(home)],
    ...CALLS.flatMap(([, calls]) => calls.map((call) => [pageOfCall(call.id), callPage(call)])),
    ["reference/events", eventsPage()],
    ["errors/", errorsPage()],
    ...[...ERRORS].map(([code, error]) => [`errors/${code}`, errorPage(code, error)]),
  ].map(([path, text]) => [path, text, source]);
}
