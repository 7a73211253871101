// The quick start as a user follows it: its samples are read from the page and run in an empty folder.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { newBusiness, newTestKey, type Session } from "../support/business";
import { overhang, settled } from "../support/page-checks";
import { indicator } from "../support/pages";
import { Receiver } from "../support/receiver";
import { JAVA_TOOL_OPTIONS, stack } from "../support/stack";
import { copyWith, DESKTOP, expect, PHONE, screenshot, test } from "../support/test";

const run = promisify(execFile);
const LANGUAGES = [
  { label: "curl", command: "sh", parameters: [] },
  { label: "TypeScript", command: "node", parameters: [] },
  { label: "Python", command: "venv/bin/python", parameters: [] },
  { label: "PHP", command: "php", parameters: [] },
  { label: "Java", command: "java", parameters: [] },
];

let receiver: Receiver;
let session: Session;
let key: string;
let folder: string;
let env: NodeJS.ProcessEnv;

test.beforeAll(async ({ request }) => {
  receiver = await Receiver.start();
  await newBusiness({ request }, "Quick starter");
  key = await newTestKey({ request });
  session = await request.storageState();
  folder = await mkdtemp(join(tmpdir(), "quick-start-"));
  // The packages come from the stack alone.
  env = {
    PATH: process.env.PATH,
    HOME: folder,
    npm_config_audit: "false",
    npm_config_update_notifier: "false",
    PIP_NO_INDEX: "1",
    JAVA_TOOL_OPTIONS,
  };
});
test.beforeEach(async ({ context, page }) => {
  await context.addCookies(session.cookies);
  await page.goto("/#quick-start");
  await page.getByLabel("Insert your key into the code below").fill(key);
});
test.afterAll(async () => {
  await receiver.stop();
  await rm(folder, { recursive: true });
});

/** The text of a sample, as its copy button copies it. */
function sample(page: Page, label: string): Promise<string> {
  return copyWith(page, page.getByRole("button", { name: `Copy ${label}`, exact: true }));
}

async function choose(page: Page, list: string, tab: string): Promise<void> {
  await page.getByRole("tablist", { name: list }).getByRole("tab", { name: tab, exact: true }).click();
}

async function isInstalled(command: string): Promise<boolean> {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const lists = await Promise.all(folders.map((one) => readdir(one).catch(() => [] as string[])));
  return command.includes("/") || lists.some((names) => names.includes(command));
}

test.describe("the request", () => {
  for (const { label, command, parameters } of LANGUAGES) {
    test(`creates the order once: ${label}`, async ({ page }) => {
      const isMissing = ["php", "java"].includes(command) && !(await isInstalled(command));
      test.skip(isMissing, "`make test` installs the others");
      await choose(page, "Language", label);
      if (["TypeScript", "Python"].includes(label)) {
        const install = await sample(page, `the installation of the package for ${label}`);
        expect(install).toContain(`${stack.orderApi}/docs/downloads/`);
        await run("sh", ["-ec", install], { cwd: folder, env });
      }
      const file = join(
        folder,
        { sh: "request.sh", node: "request.mjs" }[command] ?? `PlaceOrder.${label.toLowerCase()}`,
      );
      await writeFile(file, await sample(page, `the request in ${label}`));
      const outputs = [];
      for (let round = 0; round < 2; round += 1) {
        const { stdout } = await run(command, [...parameters, file], { cwd: folder, env });
        outputs.push(stdout);
      }
      const ids = outputs.map((output) => /ord_\w+/.exec(output)?.[0]);
      expect(ids[0]).toMatch(/^ord_/);
      expect(ids[1]).toBe(ids[0]);
      await indicator(page, "Connection Test", "Connected");
      await page.getByRole("button", { name: "Use a new reference" }).click();
    });
  }
});

test.describe("webhooks on this machine", () => {
  for (const { label, program } of [
    { label: "Node.js", program: ["node_modules/.bin/waybill"] },
    { label: "Python", program: ["venv/bin/python", "-m", "waybill"] },
  ]) {
    test(`arrive and verify: ${label}`, async ({ page }) => {
      await choose(page, "Program", label);
      const commands = await sample(page, `the commands that forward webhooks with ${label}`);
      const [first = "", ...rest] = program;
      const account = { ...env, WAYBILL_API_KEY: key, WAYBILL_BASE_URL: `${stack.orderApi}/v1` };
      const listening = new Listening(
        commands.replace("http://127.0.0.1:3000/api/delivery/webhook", receiver.url),
      );
      try {
        await listening.ready;
        const secret = await sample(page, `the secret of the receiver with ${label}`);
        const printed = await run("sh", ["-ec", `${secret}\necho "$WEBHOOK_SECRET"`], { cwd: folder, env });
        receiver.secret = printed.stdout.trim();
        const reference = `quick-start-${label}`;
        await order(first, rest, account, reference);
        const delivered = { verified: true, event: "order.delivered", orderReference: reference };
        await expect.poll(() => receiver.received).toContainEqual(expect.objectContaining(delivered));
      } finally {
        await listening.stop();
      }
      await screenshot(page, `quick-start-${label}`);
    });
  }
});

test.describe("the commands", () => {
  test("are in each language and for PowerShell, fit a phone, and never contain a Live key", async ({
    page,
  }) => {
    await page.setViewportSize(PHONE);
    await settled(page);
    await screenshot(page, "quick-start-phone");
    expect(await overhang(page)).toBe(0);
    await page.setViewportSize(DESKTOP);

    const tabs = page.getByRole("tablist", { name: "Language" }).getByRole("tab");
    await expect(tabs).toHaveText(
      LANGUAGES.map(({ label }) => label),
      { useInnerText: true },
    );

    const live = key.replace("sk_test_", "sk_live_");
    await page.getByLabel("Insert your key into the code below").fill(live);
    await expect(page.getByText("Only Test keys are inserted")).toBeVisible();
    for (const { label } of LANGUAGES) {
      await choose(page, "Language", label);
      expect(await sample(page, `the request in ${label}`)).not.toContain("sk_live_");
    }

    await page.getByLabel("Insert your key into the code below").fill(key);
    await page.getByRole("radiogroup", { name: "Shell" }).getByText("PowerShell").click();
    await choose(page, "Program", "Python");
    const commands = await sample(page, "the commands that forward webhooks with Python");
    expect(commands).toContain(`$env:WAYBILL_API_KEY = '${key}'\nvenv\\Scripts\\python -m waybill listen`);
    expect(commands).toContain("venv\\Scripts\\pip install");
    const secret = await sample(page, "the secret of the receiver with Python");
    expect(secret).toBe("$env:WEBHOOK_SECRET = venv\\Scripts\\python -m waybill listen --print-secret");
    await choose(page, "Program", "Node.js");
    const node = await sample(page, "the commands that forward webhooks with Node.js");
    expect(node).toMatch(/^npm\.cmd init --yes\nnpm\.cmd install /);
    expect(node).toContain(`$env:WAYBILL_API_KEY = '${key}'\nnpx.cmd --no-install waybill listen`);
    await choose(page, "Language", "curl");
    const curl = await sample(page, "the request in curl");
    expect(curl).toMatch(
      /^@'\n\{[^']+\n\}\n'@ \| curl\.exe -sS -i 'http[^']+' `\n( {2}-H '[^']+' `\n){3} {2}-d '@-'$/,
    );
  });

  test("do not move when the keys are loaded", async ({ page }) => {
    const keys = /\/v1\/portal\/api-keys\?/;
    const tabs = page.getByRole("tablist", { name: "Language" });
    const top = () => tabs.evaluate((list) => Math.round(list.getBoundingClientRect().top + window.scrollY));
    for (const size of [DESKTOP, PHONE]) {
      let load = () => {};
      const isWanted = new Promise<void>((go) => {
        load = go;
      });
      await page.route(keys, async (route) => {
        await isWanted;
        await route.continue();
      });
      await page.setViewportSize(size);
      await page.reload();
      // On a phone, the checklist is above.
      await expect(page.getByText(/^\d+ of \d+ done$/)).toBeVisible();
      await expect(page.getByRole("button", { name: "Create a Test key" })).toBeDisabled();
      const before = await top();
      load();
      await expect(page.getByRole("button", { name: "Create another Test key" })).toBeEnabled();
      expect(await top()).toBe(before);
      await page.unroute(keys);
    }
  });

  test("wait for the list of packages, and install only those that this service has", async ({ page }) => {
    await page.route("**/v1/portal/packages", (route) => route.fulfill({ status: 503, json: {} }));
    await page.reload();
    await choose(page, "Language", "Python");
    const failures = page.getByRole("alert").filter({ hasText: "The list of packages could not be loaded" });
    await expect(failures.nth(1)).toBeVisible();
    await expect(page.getByText("does not offer the package")).toHaveCount(0);
    await page.unroute("**/v1/portal/packages");
    await failures.first().getByRole("button", { name: "Try again" }).click();
    expect(await sample(page, "the installation of the package for Python")).toContain(
      "/docs/downloads/waybill-",
    );
    await expect(failures).toHaveCount(0);

    await page.route("**/v1/portal/packages", (route) => route.fulfill({ json: { data: [] } }));
    await page.reload();
    await choose(page, "Language", "Python");
    // For the request and for the commands that forward webhooks.
    await expect(page.getByText("does not offer the package for Python").nth(1)).toBeVisible();
    await expect(page.getByRole("button", { name: /^Copy the installation/ })).toHaveCount(0);
    const commands = await sample(page, "the commands that forward webhooks with Python");
    expect(commands).not.toContain("install");
  });
});

/** Places an order and simulates its delivery, by the command line of the package. */
async function order(first: string, rest: string[], account: NodeJS.ProcessEnv, reference: string) {
  const body = {
    orderReference: reference,
    customer: { name: "Asha Rao", phone: "+919800000001" },
    delivery: { addressLine1: "12 MG Road", city: "Bengaluru", state: "Karnataka", pincode: "560001" },
    payment: { paymentType: "prepaid", deliveryFeePaise: 4_900 },
  };
  await writeFile(join(folder, "order.json"), JSON.stringify(body));
  const options = { cwd: folder, env: account };
  const create = ["orders", "create", "--idempotency-key", reference, "--file", "order.json"];
  const { stdout } = await run(first, [...rest, ...create], options);
  for (const move of ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"]) {
    await run(first, [...rest, "orders", "simulate", JSON.parse(stdout).id, move], options);
  }
}

/** The pasted commands, in a shell of their own. */
class Listening {
  readonly shell: ChildProcess;
  /** Installing the package can take a while, so this waits as long as the test may. */
  readonly ready: Promise<void>;

  constructor(commands: string) {
    this.shell = spawn("sh", ["-ec", commands], { cwd: folder, env, detached: true });
    this.ready = new Promise((resolve, reject) => {
      let output = "";
      for (const stream of [this.shell.stdout, this.shell.stderr]) {
        stream?.on("data", (chunk) => {
          output += chunk;
          if (output.includes("Ready: ")) resolve();
        });
      }
      this.shell.once("close", () => reject(new Error(`the commands ended: ${output}`)));
    });
  }

  /** Ends the whole group, as Ctrl-C in a terminal does. */
  async stop(): Promise<void> {
    const closed = new Promise((go) => this.shell.once("close", go));
    if (this.shell.exitCode === null && this.shell.pid) {
      process.kill(-this.shell.pid, "SIGINT");
      await closed;
    }
  }
}
