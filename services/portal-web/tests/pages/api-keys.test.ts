import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { placeOrder } from "../support/api";
import { PHONE, screenshot, visit } from "../support/browser";
import { newBusiness, newTestKey } from "../support/business";
import { check, overhang } from "../support/page-checks";
import { heading, row, takeSecret } from "../support/pages";
import { stack } from "../support/stack";
import { until } from "../support/until";

test("a key is rotated with a grace period in which both keys work", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await newBusiness(visitor, "Rotation");
  const old = await newTestKey(visitor, "shop");
  await page.goto("/api-keys");
  await page.getByRole("button", { name: `Rotate shop …${old.slice(-4)}` }).click();
  const dialog = page.getByRole("dialog", { name: "Rotate “shop”" });
  await dialog.getByLabel("After 15 minutes").check();
  await screenshot(page, "keys-rotate");
  await dialog.getByRole("button", { name: "Rotate key" }).click();
  const next = await takeSecret(page, "Your new key");

  const former = row(page, "Test keys", `…${old.slice(-4)}`);
  await former.getByText("Expiring").waitFor();
  await former.getByText("rotated, ends at").waitFor();
  await row(page, "Test keys", `…${next.slice(-4)}`)
    .getByText("Active")
    .waitFor();
  await placeOrder(old, "by-the-old-key");
  await placeOrder(next, "by-the-new-key");
});

test("revoking a key also revokes the one that it replaced, which the dialog names", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await newBusiness(visitor, "Successor");
  const old = await newTestKey(visitor, "shop");
  await page.goto("/api-keys");
  const rotate = async (key: string) => {
    await page.getByRole("button", { name: `Rotate shop …${key.slice(-4)}` }).click();
    await page.getByRole("button", { name: "Rotate key" }).click();
    return takeSecret(page, "Your new key");
  };
  const second = await rotate(old);
  const third = await rotate(second);
  const question = page.getByRole("dialog", { name: "Revoke “shop”?" });
  const revoke = async (key: string, keeps: boolean) => {
    await page.getByRole("button", { name: `Revoke shop …${key.slice(-4)}` }).click();
    await question.getByText(`…${old.slice(-4)}, which was rotated, would work until`).waitFor();
    if (keeps) await question.getByLabel("Keep the replaced key").check();
    await screenshot(page, "keys-revoke");
    await question.getByRole("button", { name: "Revoke key" }).click();
    await row(page, "Test keys", `…${key.slice(-4)}`).waitFor({ state: "detached" });
  };
  await revoke(third, true);
  await placeOrder(old, "by-the-kept-key");
  await placeOrder(second, "by-the-other-kept-key");
  await revoke(second, false);
  await page.getByText("No Test key yet").waitFor();
  await rejected(old);
});

test("a new key stays visible when the list cannot be refetched", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await newBusiness(visitor, "Torn list");
  const old = await newTestKey(visitor, "shop");
  await page.goto("/api-keys");
  await row(page, "Test keys", `…${old.slice(-4)}`).waitFor();
  await page.route(/\/v1\/portal\/api-keys\?/, (route) =>
    route.fulfill({ status: 500, json: { message: "Broken." } }),
  );
  const failed = page.waitForResponse((answer) => answer.status() === 500);
  await page.getByRole("button", { name: `Rotate shop …${old.slice(-4)}` }).click();
  await page.getByRole("button", { name: "Rotate key" }).click();
  await (await failed).finished();
  await painted(page);
  await placeOrder(await takeSecret(page, "Your new key"), "by-the-key-that-stayed");
  await row(page, "Test keys", `…${old.slice(-4)}`).waitFor();

  const again = page.waitForResponse((answer) => answer.status() === 500);
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create an API key" });
  await dialog.getByLabel("Name").fill("another shop");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await (await again).finished();
  await painted(page);
  await placeOrder(await takeSecret(page, "Your Test key"), "by-another-key-that-stayed");
});

/** Waits until the browser has painted the result of a response. */
function painted(page: Page): Promise<void> {
  return page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}

test("a key that is rotated immediately is rejected from then on", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await newBusiness(visitor, "Leaked");
  const old = await newTestKey(visitor, "shop");
  await page.goto("/api-keys");
  await page.getByRole("button", { name: `Rotate shop …${old.slice(-4)}` }).click();
  await page.getByLabel("Immediately").check();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const next = await takeSecret(page, "Your new key");
  await row(page, "Test keys", `…${next.slice(-4)}`).waitFor();
  await row(page, "Test keys", `…${old.slice(-4)}`).waitFor({ state: "detached" });
  await rejected(old);
});

test("a key is revoked after confirmation, and stays in the list of ended keys", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await newBusiness(visitor, "Revocation");
  const key = await newTestKey(visitor, "old shop");
  await page.goto("/api-keys");
  await heading(page, "API keys");
  const revoke = page.getByRole("button", { name: `Revoke old shop …${key.slice(-4)}` });
  const question = page.getByRole("dialog", { name: "Revoke “old shop”?" });
  await revoke.click();
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "hidden" });
  await placeOrder(key, "before-the-revocation");

  await revoke.click();
  await question.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("No Test key yet").waitFor();
  await rejected(key);
  await page.getByLabel("Show revoked and expired keys").check();
  await row(page, "Test keys", `…${key.slice(-4)}`)
    .getByText("Revoked")
    .waitFor();
  expect(await revoke.count()).toBe(0);
});

test("a key needs a name, and no Live key can be created while live orders are locked", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await newBusiness(visitor, "Nameless");
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "Create a Test key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create an API key" });
  await dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.getByText("Enter a name for the key.").waitFor();
  expect(await dialog.getByLabel("Name").evaluate((input) => input === document.activeElement)).toBe(true);
  await dialog.getByRole("radiogroup", { name: "Mode" }).getByText("Live", { exact: true }).click();
  await dialog.getByText("Live keys are locked").waitFor();
  expect(await dialog.getByRole("button", { name: "Create key" }).isDisabled()).toBe(true);
});

test("a key with options does what they allow, and its successor too", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await newBusiness(visitor, "Restricted");
  const plain = await newTestKey(visitor, "shop");
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create an API key" });
  await dialog.getByLabel("Name").fill("reports");
  const options = dialog.getByRole("button", { name: "Options" });
  expect(await dialog.getByLabel("Expires").isVisible()).toBe(false);
  await options.focus();
  await page.keyboard.press("Enter");
  await dialog.getByLabel("Expires").fill("2020-01-01T00:00");
  for (const label of ["Write orders", "Read orders", "Read events"])
    await dialog.getByLabel(label).uncheck();
  const create = dialog.getByRole("button", { name: "Create key" });
  await create.click();
  await dialog.getByText("Choose at least one.").waitFor();
  await dialog.getByLabel("Read events").check();
  await dialog.getByLabel("Allowed addresses").fill("127.0.0.1\nshop.example");
  await create.click();
  await dialog.getByText("Expires must be in the future").waitFor();
  await dialog.getByText("Line 2 must be a network").waitFor();
  await check(page, "keys-options");
  await dialog.getByLabel("Expires").fill(`${new Date().getFullYear() + 1}-01-31T09:30`);
  await dialog.getByLabel("Allowed addresses").fill("127.0.0.9, 127.0.0.1/24");
  await create.click();
  const key = await takeSecret(page, "Your Test key");

  const created = row(page, "Test keys", `…${key.slice(-4)}`);
  await created.getByText("Active").waitFor();
  await created.getByText("Read events").waitFor();
  await created.getByText("from 127.0.0.0/24, 127.0.0.9/32").waitFor();
  await created.getByText("by you").waitFor();
  await row(page, "Test keys", `…${plain.slice(-4)}`)
    .getByText("Everything")
    .waitFor();
  await placeOrder(key, "not-allowed", {}, 403);
  expect((await events(key)).status).toBe(200);

  await page.getByRole("button", { name: `Rotate reports …${key.slice(-4)}` }).click();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const next = await takeSecret(page, "Your new key");
  await row(page, "Test keys", `…${next.slice(-4)}`)
    .getByText("from 127.0.0.0/24, 127.0.0.9/32")
    .waitFor();
  await created.getByText("Expiring").waitFor();
  await placeOrder(next, "not-allowed", {}, 403);
  expect((await events(next)).status).toBe(200);

  await page.setViewportSize(PHONE);
  await page.getByRole("list", { name: "Test keys" }).getByText("Read events").first().waitFor();
  expect(await overhang(page)).toBeLessThanOrEqual(0);
});

/** Reads the events feed. */
function events(key: string): Promise<Response> {
  return fetch(`${stack.orderApi}/v1/integration/events`, { headers: { Authorization: `Bearer ${key}` } });
}

/** Waits until the key is rejected: services cache a valid key for a few seconds. */
async function rejected(key: string): Promise<void> {
  await until("the key is rejected", () =>
    placeOrder(key, "with-an-ended-key", {}, 401).then(
      () => true,
      () => false,
    ),
  );
}
