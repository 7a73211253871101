// Endpoints that accept forged webhooks, fail, or are gone for good, each of a business of its own.

import { placeOrder } from "../support/api";
import { ask, listedWebhook, newBusiness, newTestKey } from "../support/business";
import { check, polled } from "../support/page-checks";
import { row } from "../support/pages";
import { Receiver } from "../support/receiver";
import { expect, screenshot, test } from "../support/test";

test("an endpoint that accepts a forged signature is shown as open to anyone", async ({ page }) => {
  await newBusiness(page, "Careless");
  const trusting = await Receiver.start();
  trusting.status = 200;
  const { id } = await ask(page, "POST", "/webhook-endpoints", { url: trusting.url }, 201);
  await page.goto("/webhooks");
  await expect(row(page, "Webhook endpoints", trusting.url).getByText("Not tested")).toBeVisible();
  await expect(page.getByRole("main").getByText("needs attention")).toHaveCount(0);
  await page.goto(`/webhooks/${id}`);
  await page.getByRole("button", { name: "Send test event" }).click();
  const result = page.getByRole("dialog", { name: "Test event" });
  await expect(
    result.getByText("Received. Forged signature: accepted, so anyone can post to this endpoint"),
  ).toBeVisible();
  await expect(result.getByText(/^Your server returned 200 after/)).toBeVisible();
  await expect(result.getByText("It works")).toHaveCount(0);
  await check(page, "webhook-forged", { bothSizes: true });
  await result.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText("The endpoint accepts forged signatures")).toBeVisible();
  await expect(page.getByText("Connection test: Accepts forged signatures")).toBeVisible();
  await check(page, "webhook-forged-endpoint", { bothSizes: true });
  for (const path of ["/webhooks", "/"]) {
    await page.goto(path);
    await expect(page.getByText("accepts forged signatures, so anyone can post to it.")).toBeVisible();
    const listed = row(page, "Webhook endpoints", trusting.url).getByText("Accepts forged signatures");
    if (path === "/webhooks") await expect(listed).toBeVisible();
    await check(page, path === "/" ? "overview-forged" : "webhooks-forged", { bothSizes: true });
  }
  await trusting.stop();
});

test("a server that fails is quoted, and webhooks of a disabled endpoint are held", async ({ page }) => {
  await newBusiness(page, "Gone fishing");
  const gone = await Receiver.start();
  const { id } = await ask(page, "POST", "/webhook-endpoints", { url: gone.url }, 201);
  await page.clock.install();
  await page.goto(`/webhooks/${id}`);
  const result = page.getByRole("dialog", { name: "Test event" });
  for (const [answer, words] of [
    [500, "Your server returned 500; see its log."],
    [410, "Your server returned 410: the endpoint is gone for good, and was disabled."],
  ] as const) {
    gone.status = answer;
    await page.getByRole("button", { name: "Send test event" }).click();
    await expect(result.getByText(words)).toBeVisible();
    await screenshot(page, `webhook-${answer}`);
    await result.getByRole("button", { name: "Close" }).click();
  }
  await expect(page.getByText("Its server returned 410 Gone.")).toBeVisible();
  await expect(page.getByText("New webhooks are held.")).toBeVisible();
  await placeOrder(await newTestKey(page), "held-1");
  await listedWebhook(page, id, "held-1");
  await polled(page, row(page, "Deliveries", "held-1").getByText("Held", { exact: true }));
  await expect(page.getByText("1 webhook is held")).toBeVisible();
  await check(page, "webhook-held", { bothSizes: true });
  await gone.stop();
});
