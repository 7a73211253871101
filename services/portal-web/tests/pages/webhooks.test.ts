import type { Page } from "@playwright/test";
import { placeOrder } from "../support/api";
import { ask, listedWebhook, newBusiness, newTestKey, type Session } from "../support/business";
import { check, polled } from "../support/page-checks";
import { heading, row, rowsOf, takeSecret } from "../support/pages";
import { Receiver } from "../support/receiver";
import { expect, PHONE, screenshot, test } from "../support/test";

let session: Session;
let receiver: Receiver;
let key: string;
let endpointId: string;
let endpoint: string;
test.beforeAll(async ({ request }) => {
  receiver = await Receiver.start();
  await newBusiness({ request }, "Listener");
  key = await newTestKey({ request });
  session = await request.storageState();
  const made = await ask({ request }, "POST", "/webhook-endpoints", { url: receiver.url }, 201);
  receiver.secret = String(made.secret);
  endpointId = String(made.id);
  endpoint = `/webhooks/${endpointId}`;
  await placeOrder(key, "heard-1");
  await placeOrder(key, "heard-2");
  await expect.poll(() => receiver.received).toHaveLength(2);
});
test.beforeEach(({ context }) => context.addCookies(session.cookies));
test.afterAll(async () => {
  await receiver.stop();
});

const status = (page: Page) => page.getByRole("status", { name: "Endpoint status" });

test("the portal and the documentation link to each other", async ({ page }) => {
  await page.goto(endpoint);
  await page.getByRole("link", { name: "API documentation" }).click();
  await page.getByRole("complementary").getByRole("link", { name: "Webhook reference" }).click();
  await expect(page.getByRole("heading", { name: "Verifying" })).toBeVisible();
  await page.getByRole("link", { name: "Portal", exact: true }).click();
  await expect(page.getByRole("link", { name: "API documentation" })).toBeVisible();
});

test("the addresses that requests come from are shown and copied", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/webhooks");
  await expect(page.getByText("Requests come from these addresses: 127.0.0.1, ::1")).toBeVisible();
  await page.getByRole("button", { name: "Copy the addresses" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("127.0.0.1, ::1");
});

test("the log is filtered by order, event, mode, status and response", async ({ page }) => {
  await page.goto(endpoint);
  await heading(page, receiver.url);
  await rowsOf(page, "Deliveries", 2);
  const filters = page.getByRole("group", { name: "Log filters" });
  await filters.getByLabel("Order reference").fill("heard-1");
  await rowsOf(page, "Deliveries", 1);
  await expect(row(page, "Deliveries", "heard-1").getByText("Succeeded")).toBeVisible();
  await filters.getByRole("button", { name: "Clear filters" }).click();
  await rowsOf(page, "Deliveries", 2);
  const nothing = page.getByText("No deliveries match these filters");
  const choices = {
    Status: "Failed",
    Event: "Delivered",
    Mode: "Live",
    "Latest response": "5xx, server errors",
  };
  for (const [label, choice] of Object.entries(choices)) {
    await filters.getByLabel(label, { exact: true }).selectOption({ label: choice });
    await expect(nothing).toBeVisible();
    await filters.getByRole("button", { name: "Clear filters" }).click();
    await rowsOf(page, "Deliveries", 2);
  }
  await filters.getByLabel("Until").fill("2020-01-31T12:00");
  await expect(nothing).toBeVisible();
});

test("a delivery shows its request and response, and is redelivered", async ({ page }) => {
  await page.goto(endpoint);
  await row(page, "Deliveries", "heard-1").getByRole("link", { name: "order.created" }).click();
  await heading(page, "order.created");
  const request = page.getByRole("region", { name: "the request of attempt 1" });
  const sent = (await request.textContent()) ?? "";
  expect(sent).toContain(`POST ${receiver.url}`);
  expect(sent.toLowerCase()).toContain("service-signature: sha256=");
  expect(sent).toContain('"orderReference":"heard-1"');
  expect(sent).not.toContain(receiver.secret);
  await expect(
    page.getByRole("region", { name: "the response to attempt 1" }).getByText("HTTP 200"),
  ).toBeVisible();
  await screenshot(page, "webhook-delivery");

  await page.getByRole("button", { name: "Redeliver" }).click();
  await expect(page.getByText("Queued. It is sent in a moment.")).toBeVisible();
  await expect(page.getByRole("button", { name: /^Attempt 2/ })).toBeVisible();
  const again = () => receiver.received.filter((one) => one.orderReference === "heard-1");
  expect(again().map((one) => one.verified)).toEqual([true, true]);
});

test("webhooks of a paused endpoint wait, and are sent when it resumes", async ({ page }) => {
  await page.clock.install();
  await page.goto(endpoint);
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(status(page).getByText("Paused")).toBeVisible();
  await expect(page.getByText("Delivery is paused")).toBeVisible();
  await placeOrder(key, "held-back");
  await listedWebhook(page, endpointId, "held-back");
  await page.reload();
  await expect(row(page, "Deliveries", "held-back").getByText("Pending")).toBeVisible();
  const held = () => receiver.received.filter((one) => one.orderReference === "held-back");
  expect(held()).toEqual([]);
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(status(page).getByText("Active")).toBeVisible();
  await polled(page, row(page, "Deliveries", "held-back").getByText("Succeeded"));
  expect(held().map((one) => one.verified)).toEqual([true]);
});

test("the signature check explains a wrong signature and accepts the right one", async ({ page }) => {
  await page.goto(`${endpoint}?tab=signatures`);
  await page.getByLabel("Service-Timestamp").fill("1767225600");
  await page.getByLabel("Raw body").fill('{"id":"evt_1"}');
  await page.getByLabel("Signature as received").fill("sha256=00");
  await page.getByRole("button", { name: "Check signature" }).click();
  await expect(page.getByText("The signature does not match")).toBeVisible();
  const signed = page.getByRole("region", { name: "string to sign" });
  expect(await signed.textContent()).toBe('1767225600.{"id":"evt_1"}');
  await screenshot(page, "webhook-signature");

  await page.getByLabel("Signature as received").fill(receiver.sign("1767225600", '{"id":"evt_1"}'));
  await page.getByRole("button", { name: "Check signature" }).click();
  await expect(page.getByText("The signature matches")).toBeVisible();
});

test("a new secret is staged while both sign, and is then activated", async ({ page }) => {
  await page.goto(`${endpoint}?tab=settings`);
  const old = receiver.secret;
  await page.getByRole("button", { name: "Rotate secret" }).click();
  const dialog = page.getByRole("dialog", { name: "Rotate the signing secret" });
  await dialog.getByLabel("Keep signing with the old secret for").selectOption({ label: "1 hour" });
  await dialog.getByRole("button", { name: "Rotate secret" }).click();
  const next = await takeSecret(page, "Your new signing secret");
  expect(next).not.toBe(old);
  await expect(page.getByText("A new signing secret is staged")).toBeVisible();
  await placeOrder(key, "by-the-old-secret");
  await arrived("by-the-old-secret");

  await page.getByRole("button", { name: "Activate new secret" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Activate", exact: true }).click();
  await expect(page.getByText("A new signing secret is staged")).toBeHidden();
  receiver.secret = next;
  await placeOrder(key, "by-the-new-secret");
  await arrived("by-the-new-secret");
});

test("a test event that the receiver rejects says what to do", async ({ page }) => {
  const known = receiver.secret;
  receiver.secret = "another";
  await page.goto(endpoint);
  await page.getByRole("button", { name: "Send test event" }).click();
  const result = page.getByRole("dialog", { name: "Test event" });
  await expect(result.getByText("Not received")).toBeVisible();
  await expect(
    result.getByText("Your server returned 401: it refused the webhook; check its signing secret"),
  ).toBeVisible();
  await result.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText("Connection test: Failed")).toBeVisible();
  for (const path of ["/", "/webhooks"]) {
    await page.goto(path);
    const needy = page.getByRole("status").filter({ hasText: "A webhook endpoint needs attention" });
    await expect(needy.getByText(/failed its latest test|fails every attempt/)).toBeVisible();
    await screenshot(page, path === "/" ? "overview-failing" : "webhooks-failing");
    await needy.getByRole("link", { name: receiver.url.replace("http://", "") }).click();
    await heading(page, receiver.url);
  }
  receiver.secret = known;
});

test("on a phone, the log shows the whole cause of a failure", async ({ page }) => {
  const cause = "no response within 10 s: the server took the connection, and sent nothing until the end";
  await page.route(`**/v1/portal/webhook-endpoints/${endpointId}/deliveries?*`, async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = await response.json();
    const failed = data.map((one: object) => ({ ...one, status: "failed", attempts: 3, lastError: cause }));
    return route.fulfill({ response, json: { ...rest, data: failed } });
  });
  await page.setViewportSize(PHONE);
  await page.goto(endpoint);
  const shown = page.getByRole("list", { name: "Deliveries" }).getByText("until the end").first();
  await expect(shown).toBeVisible();
  expect(await shown.evaluate((text) => text.scrollWidth <= text.clientWidth)).toBe(true);
  await check(page, "phone-webhook-causes");
});

test("a webhook is due when its endpoint is tried again", async ({ page }) => {
  const ofEndpoint = `**/v1/portal/webhook-endpoints/${endpointId}`;
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  let change: object = {
    status: "failing",
    trouble: { failingSince: inMinutes(-5), restingUntil: inMinutes(10), notices: [] },
  };
  // An endpoint rests after many failures only, so that the test plays the server's answers.
  await page.route(ofEndpoint, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...change } });
  });
  await page.route(`${ofEndpoint}/deliveries?*`, async (route) => {
    const response = await route.fetch();
    const { data } = await response.json();
    const pending = {
      status: "pending",
      attempts: 2,
      lastError: "your server returned 500; see its log",
      nextAttemptAt: inMinutes(-1),
    };
    await route.fulfill({ response, json: { data: [{ ...data[0], ...pending }], hasMore: false } });
  });
  await page.goto(endpoint);
  await expect(page.getByText(/^Attempts are paused. The next one: in 10 minutes\./)).toBeVisible();
  await expect(page.getByText("2 attempts, next in 10 minutes")).toBeVisible();
  await expect(page.getByText("due now")).toHaveCount(0);
  await check(page, "webhook-resting", { bothSizes: true });
  change = { status: "paused", trouble: null };
  await page.reload();
  await expect(page.getByText("2 attempts, next when the endpoint is resumed")).toBeVisible();
});

test("missed webhooks are recovered", async ({ page }) => {
  await page.goto(`${endpoint}?tab=recover`);
  await expect(page.getByText("None yet.")).toBeVisible();
  await page.getByRole("button", { name: "Recover" }).click();
  await expect(page.getByRole("status", { name: "Recovery" }).getByText("Completed")).toBeVisible();
});

test("an endpoint needs a full URL and an event, is changed, and is deleted after confirmation", async ({
  page,
}) => {
  await page.goto("/webhooks/new");
  const url = page.getByRole("textbox", { name: "URL" });
  await url.fill("shop.example/hook");
  await page.getByRole("button", { name: "Add endpoint" }).click();
  await expect(page.getByText("Enter a full URL, starting with https://.")).toBeVisible();

  await page.goto(`${endpoint}?tab=settings`);
  await expect(page.getByText("10 of 13 selected.")).toBeVisible();
  await page.getByRole("checkbox", { name: "Returned to pickup" }).check();
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Endpoint settings saved.")).toBeVisible();
  await page.reload();
  await expect(page.getByText("11 of 13 selected.")).toBeVisible();

  await page.getByRole("button", { name: "Delete endpoint" }).click();
  const question = page.getByRole("dialog", { name: "Delete this endpoint?" });
  await question.getByRole("button", { name: "Delete endpoint" }).click();
  await expect(page.getByText("No endpoint yet")).toBeVisible();
});

async function arrived(orderReference: string): Promise<void> {
  const found = () => receiver.received.find((one) => one.orderReference === orderReference);
  await expect.poll(found, `what arrives of ${orderReference}`).toMatchObject({ verified: true });
}
