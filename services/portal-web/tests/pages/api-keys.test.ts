import type { Page } from "@playwright/test";
import { placeOrder } from "../support/api";
import { newBusiness, newTestKey } from "../support/business";
import { check, overhang } from "../support/page-checks";
import { heading, row, takeSecret } from "../support/pages";
import { stack } from "../support/stack";
import { expect, PHONE, screenshot, test } from "../support/test";

test("a key is rotated with a grace period in which both keys work, or is rejected immediately", async ({
  page,
}) => {
  await newBusiness(page, "Rotation");
  const old = await newTestKey(page, "shop");
  await page.goto("/api-keys");
  await page.getByRole("button", { name: `Rotate shop …${old.slice(-4)}` }).click();
  const dialog = page.getByRole("dialog", { name: "Rotate “shop”" });
  await dialog.getByLabel("After 15 minutes").check();
  await screenshot(page, "keys-rotate");
  await dialog.getByRole("button", { name: "Rotate key" }).click();
  const next = await takeSecret(page, "Your new key");

  const former = row(page, "Test keys", `…${old.slice(-4)}`);
  await expect(former.getByText("Expiring")).toBeVisible();
  await expect(former.getByText("rotated, ends at")).toBeVisible();
  await expect(row(page, "Test keys", `…${next.slice(-4)}`).getByText("Active")).toBeVisible();
  await placeOrder(old, "by-the-old-key");
  await placeOrder(next, "by-the-new-key");

  await page.getByRole("button", { name: `Rotate shop …${next.slice(-4)}` }).click();
  await page.getByLabel("Immediately").check();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const last = await takeSecret(page, "Your new key");
  await expect(row(page, "Test keys", `…${last.slice(-4)}`)).toBeVisible();
  await expect(row(page, "Test keys", `…${next.slice(-4)}`)).toHaveCount(0);
  await rejected(next);
});

test("revoking a key also revokes the one that it replaced, which the dialog names", async ({ page }) => {
  await newBusiness(page, "Successor");
  const old = await newTestKey(page, "shop");
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
    await expect(question.getByText(`…${old.slice(-4)}, which was rotated, would work until`)).toBeVisible();
    if (keeps) await question.getByLabel("Keep the replaced key").check();
    await screenshot(page, "keys-revoke");
    await question.getByRole("button", { name: "Revoke key" }).click();
    await expect(row(page, "Test keys", `…${key.slice(-4)}`)).toHaveCount(0);
  };
  await revoke(third, true);
  await placeOrder(old, "by-the-kept-key");
  await placeOrder(second, "by-the-other-kept-key");
  await revoke(second, false);
  await expect(page.getByText("No Test key yet")).toBeVisible();
  await rejected(old);
});

test("a new key stays visible when the list cannot be refetched", async ({ page }) => {
  await newBusiness(page, "Torn list");
  const old = await newTestKey(page, "shop");
  await page.goto("/api-keys");
  await expect(row(page, "Test keys", `…${old.slice(-4)}`)).toBeVisible();
  await page.route(/\/v1\/portal\/api-keys\?/, (route) =>
    route.fulfill({ status: 500, json: { message: "Broken." } }),
  );
  const failed = page.waitForResponse((answer) => answer.status() === 500);
  await page.getByRole("button", { name: `Rotate shop …${old.slice(-4)}` }).click();
  await page.getByRole("button", { name: "Rotate key" }).click();
  await (await failed).finished();
  await painted(page);
  await placeOrder(await takeSecret(page, "Your new key"), "by-the-key-that-stayed");
  await expect(row(page, "Test keys", `…${old.slice(-4)}`)).toBeVisible();

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

test("a key is revoked after confirmation, and stays in the list of ended keys", async ({ page }) => {
  await newBusiness(page, "Revocation");
  const key = await newTestKey(page, "old shop");
  await page.goto("/api-keys");
  await heading(page, "API keys");
  const revoke = page.getByRole("button", { name: `Revoke old shop …${key.slice(-4)}` });
  const question = page.getByRole("dialog", { name: "Revoke “old shop”?" });
  await revoke.click();
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(question).toBeHidden();
  await placeOrder(key, "before-the-revocation");

  await revoke.click();
  await question.getByRole("button", { name: "Revoke key" }).click();
  await expect(page.getByText("No Test key yet")).toBeVisible();
  await rejected(key);
  await page.getByLabel("Show revoked and expired keys").check();
  await expect(row(page, "Test keys", `…${key.slice(-4)}`).getByText("Revoked")).toBeVisible();
  await expect(revoke).toHaveCount(0);
});

test("a key needs a name, and no Live key can be created while live orders are locked", async ({ page }) => {
  await newBusiness(page, "Nameless");
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "Create a Test key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create an API key" });
  await dialog.getByRole("button", { name: "Create key" }).click();
  await expect(dialog.getByText("Enter a name for the key.")).toBeVisible();
  await expect(dialog.getByLabel("Name")).toBeFocused();
  await dialog.getByRole("radiogroup", { name: "Mode" }).getByText("Live", { exact: true }).click();
  await expect(dialog.getByText("Live keys are locked")).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Create key" })).toBeDisabled();
});

test("a key with options does what they allow, and its successor too", async ({ page }) => {
  await newBusiness(page, "Restricted");
  const plain = await newTestKey(page, "shop");
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog", { name: "Create an API key" });
  await dialog.getByLabel("Name").fill("reports");
  const options = dialog.getByRole("button", { name: "Options" });
  await expect(dialog.getByLabel("Expires")).toBeHidden();
  await options.focus();
  await page.keyboard.press("Enter");
  await dialog.getByLabel("Expires").fill("2020-01-01T00:00");
  for (const label of ["Write orders", "Read orders", "Read events"])
    await dialog.getByLabel(label).uncheck();
  const create = dialog.getByRole("button", { name: "Create key" });
  await create.click();
  await expect(dialog.getByText("Choose at least one.")).toBeVisible();
  await dialog.getByLabel("Read events").check();
  await dialog.getByLabel("Allowed addresses").fill("127.0.0.1\nshop.example\n10.0.0.1\nthere");
  await create.click();
  await expect(dialog.getByText("Expires must be in the future")).toBeVisible();
  for (const line of ["Line 2 must be a network", "Line 4 must be a network"]) {
    await expect(dialog.getByText(line)).toBeVisible();
  }
  await expect(dialog.getByText(/ipAllowList|expiresAt/)).toHaveCount(0);
  await expect(page.locator("[aria-invalid=true]:focus")).toBeVisible();
  await check(page, "keys-options");
  await dialog.getByLabel("Expires").fill(`${new Date().getFullYear() + 1}-01-31T09:30`);
  await dialog.getByLabel("Allowed addresses").fill("127.0.0.9, 127.0.0.1/24");
  await create.click();
  const key = await takeSecret(page, "Your Test key");

  const created = row(page, "Test keys", `…${key.slice(-4)}`);
  await expect(created.getByText("Active")).toBeVisible();
  await expect(created.getByText("Read events")).toBeVisible();
  await expect(created.getByText("from 127.0.0.0/24, 127.0.0.9/32")).toBeVisible();
  await expect(created.getByText("by you")).toBeVisible();
  await expect(row(page, "Test keys", `…${plain.slice(-4)}`).getByText("Everything")).toBeVisible();
  await placeOrder(key, "not-allowed", {}, 403);
  expect((await events(key)).status).toBe(200);

  await page.getByRole("button", { name: `Rotate reports …${key.slice(-4)}` }).click();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const next = await takeSecret(page, "Your new key");
  await expect(
    row(page, "Test keys", `…${next.slice(-4)}`).getByText("from 127.0.0.0/24, 127.0.0.9/32"),
  ).toBeVisible();
  await expect(created.getByText("Expiring")).toBeVisible();
  await placeOrder(next, "not-allowed", {}, 403);
  expect((await events(next)).status).toBe(200);

  await page.setViewportSize(PHONE);
  await expect(page.getByRole("list", { name: "Test keys" }).getByText("Read events").first()).toBeVisible();
  expect(await overhang(page)).toBeLessThanOrEqual(0);
});

/** Reads the events feed. */
function events(key: string): Promise<Response> {
  return fetch(`${stack.orderApi}/v1/integration/events`, { headers: { Authorization: `Bearer ${key}` } });
}

/** Waits until the key is rejected: services cache a valid key for a few seconds. */
async function rejected(key: string): Promise<void> {
  await expect(() => placeOrder(key, "with-an-ended-key", {}, 401)).toPass();
}
