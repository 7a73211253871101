// The documentation that order-api serves: reading it, finding things in it, and the code of its reference.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { newBusiness, newTestKey } from "./support/business";
import { COLOUR_RULES, overhang, seriousFindings, tabTo } from "./support/page-checks";
import { JAVA_TOOL_OPTIONS, stack } from "./support/stack";
import { expect, PHONE, screenshot, test } from "./support/test";

const run = promisify(execFile);
const docs = (path: string) => `${stack.orderApi}/docs/${path}`;
const code = (page: Page, language: string) =>
  page.locator(`.language[data-language="${language}"] pre`).first();

test("the host's address and the former page lead to the site", async ({ page }) => {
  for (const address of [stack.orderApi, `${stack.orderApi}/docs#createOrder`]) {
    await page.goto(address);
    await expect(page.getByRole("heading", { level: 1 })).toContainText("API");
  }
  // The anchors of the former page lead to the calls.
  await expect(page.locator("#createOrder")).toBeAttached();
  await page.getByRole("main").getByRole("link", { name: "Create an order", exact: true }).click();
  await expect(page).toHaveURL(docs("reference/create-order"));
});

test("the search finds a page, by keyboard alone", async ({ page }) => {
  await page.goto(docs(""));
  await tabTo(page, "button", "Search");
  await page.keyboard.press("Enter");
  await page.getByRole("searchbox").fill("insufficient_wallet_balance");
  await expect(page.getByRole("option").first()).toContainText("insufficient_wallet_balance");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/errors\/insufficient_wallet_balance/);
  await expect(page.getByText("What to do.")).toBeVisible();
});

test("the chosen language stays, on other pages and at later visits", async ({ page, context }) => {
  await page.goto(docs("reference/create-order"));
  await expect(code(page, "curl")).toBeVisible();
  await page.getByRole("button", { name: "Python", exact: true }).click();
  await expect(code(page, "Python")).toBeVisible();
  await expect(code(page, "curl")).toBeHidden();
  await page.goto(docs("first-order"));
  await expect(page.getByRole("button", { name: "Python", exact: true })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await page.getByRole("button", { name: "PowerShell", exact: true }).click();
  await expect(code(page, "PowerShell")).toContainText("'@ | curl.exe -sS");
  await page.getByRole("button", { name: "Python", exact: true }).click();
  const later = await context.newPage();
  await later.goto(docs("webhooks"));
  await expect(later.getByRole("heading", { name: "A receiver in Python" })).toBeVisible();
  await expect(later.getByRole("heading", { name: "A receiver in TypeScript" })).toBeHidden();
  // A link to a section in another language shows that language.
  await later.goto(docs("webhooks#a-receiver-in-rust"));
  await expect(later.getByRole("heading", { name: "A receiver in Rust" })).toBeInViewport();
});

test("code is copied", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(docs("reference/get-order"));
  await page.getByRole("button", { name: "Copy Code" }).first().click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(`curl -sS "$WAYBILL_BASE_URL/integration/orders/`);
});

test("pages can be read without JavaScript, and as Markdown", async ({ visit, request }) => {
  const page = await visit({ javaScriptEnabled: false });
  await page.goto(docs("first-order"));
  for (const language of ["curl", "TypeScript", "Python", "Rust", "PowerShell"]) {
    await expect(code(page, language)).toBeVisible();
  }
  const index = await (await request.get(docs("llms.txt"))).text();
  const listed = [...index.matchAll(/\]\((\S+)\)/g)].map(([, address]) => String(address));
  expect(listed.length).toBeGreaterThan(60);
  const unread = listed.filter(
    (address) => !address.includes("/decisions/") && !address.includes("/runbooks/"),
  );
  for (const address of unread) {
    const answer = await request.get(address);
    expect(answer.headers()["content-type"], address).toBe("text/markdown; charset=utf-8");
    expect(await answer.text(), address).toMatch(/^# /m);
  }
});

for (const path of [
  "",
  "first-order",
  "reference/create-order",
  "reference/events",
  "errors/",
  "webhook-reference",
]) {
  test(`is accessible and fits a phone: ${path || "home"}`, async ({ page }) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(docs(path));
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      // The search's button shows its key, which is no part of its name. Only colours depend on the scheme.
      const light = { without: ["label-content-name-mismatch"] };
      expect(await seriousFindings(page, colorScheme === "light" ? light : { rules: COLOUR_RULES })).toEqual(
        [],
      );
    }
    await screenshot(page, `docs-${path.replaceAll("/", "-")}`);
    await page.setViewportSize(PHONE);
    expect(await overhang(page)).toBe(0);
    await screenshot(page, `docs-${path.replaceAll("/", "-")}-phone`);
  });
}

/** How the code of each language is run, in a folder with the packages. */
const COMMANDS = {
  curl: { file: "call.sh", command: "sh" },
  TypeScript: { file: "call.mjs", command: "node" },
  Python: { file: "call.py", command: "venv/bin/python" },
  PHP: { file: "call.php", command: "php" },
  Java: { file: "Call.java", command: "java" },
};

test("the code of the reference runs, in each language that is installed", async ({ page, request }) => {
  test.setTimeout(600_000);
  await newBusiness({ request }, "Reader of the reference");
  const folder = await mkdtemp(join(tmpdir(), "docs-"));
  const options = {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      PIP_NO_INDEX: "1",
      JAVA_TOOL_OPTIONS,
      WAYBILL_BASE_URL: `${stack.orderApi}/v1`,
      WAYBILL_API_KEY: await newTestKey({ request }),
    },
  };
  try {
    await page.goto(docs("downloads"));
    const commands = await page.locator("pre").allTextContents();
    const client = commands.find((command) => command.includes("waybill-client")) ?? "";
    const wheel = commands.find((command) => command.startsWith("pip")) ?? "";
    await run("sh", ["-ec", `${client}\npython3 -m venv venv\nvenv/bin/${wheel}`], options);
    const installed: [string, { file: string; command: string }][] = [];
    for (const entry of Object.entries(COMMANDS)) {
      if (await isInstalled(entry[1].command, folder)) installed.push(entry);
    }
    process.stdout.write(`code of the reference: ${installed.map(([language]) => language).join(", ")}\n`);
    let order = "";
    for (const call of ["create-order", "get-order", "list-orders", "list-order-events", "list-events"]) {
      await page.goto(docs(`reference/${call}`));
      for (const [language, { file, command }] of installed) {
        const text = (await code(page, language).textContent()) ?? "";
        await writeFile(join(folder, file), text.replaceAll("ord_…", order || "$&"));
        const { stdout } = await run(command, [file], options);
        expect(stdout, `${call}, ${language}`).not.toContain("requestId");
        order ||= /ord_\w{26}/.exec(stdout)?.[0] ?? "";
        // The feed has an event a moment after its order.
        if (call !== "list-events") expect(stdout.trim(), `${call}, ${language}`).not.toBe("");
      }
    }
    expect(order).not.toBe("");
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** The service did not understand the call. Other errors are of the order's state. */
const NOT_UNDERSTOOD =
  /"code":\s*"(not_found|method_not_allowed|missing_api_key|invalid_api_key|invalid_fleet_token|idempotency_key_missing|malformed_json|malformed_request|bad_request|unsupported_media_type|internal_error)"/;

test("the service understands the curl of every call", async ({ request }) => {
  await newBusiness({ request }, "Reader of all calls");
  const env = {
    PATH: process.env.PATH,
    WAYBILL_BASE_URL: `${stack.orderApi}/v1`,
    WAYBILL_API_KEY: await newTestKey({ request }),
    WAYBILL_FLEET_TOKEN: stack.fleetToken,
  };
  const index = await (await request.get(docs("llms.txt"))).text();
  const calls = [...index.matchAll(/\((\S+\/reference\/(?!events)\S+\.md)\)/g)].map(([, address]) => address);
  expect(calls.length).toBeGreaterThanOrEqual(17);
  let order = "";
  for (const call of calls) {
    const text = await (await request.get(String(call))).text();
    const curl = /^```sh\n(curl [^`]+)```/m.exec(text)?.[1] ?? "false";
    const { stdout } = await run("sh", ["-c", curl.replaceAll("ord_…", order || "$&")], { env });
    order ||= /ord_\w{26}/.exec(stdout)?.[0] ?? "";
    expect(stdout, call).not.toBe("");
    expect(stdout, call).not.toMatch(NOT_UNDERSTOOD);
  }
  expect(order).not.toBe("");
});

async function isInstalled(command: string, folder: string): Promise<boolean> {
  return run("sh", ["-c", `command -v ${command}`], { cwd: folder }).then(
    () => true,
    () => false,
  );
}
