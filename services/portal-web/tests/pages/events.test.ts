import { placeOrder } from "../support/api";
import { ask, listedWebhook, newBusiness, newTestKey } from "../support/business";
import { goTo, heading, row, rowsOf } from "../support/pages";
import { Receiver } from "../support/receiver";
import { expect, PHONE, screenshot, test } from "../support/test";

test("events are found by order and kind, and each has its webhooks", async ({ page }) => {
  await newBusiness(page, "Event book");
  await page.goto("/");
  await goTo(page, "Events");
  await expect(page.getByText("No events yet")).toBeVisible();
  const key = await newTestKey(page);
  const receiver = await Receiver.start();
  const endpoint = { url: receiver.url, events: ["driver.assigned"] };
  const made = await ask(page, "POST", "/webhook-endpoints", endpoint, 201);
  receiver.secret = String(made.secret);
  await placeOrder(key, "not-subscribed");
  const order = await placeOrder(key, "event-book-1");
  await ask(page, "POST", `/orders/${order.id}/simulate`, { event: "driver.assigned" }, 200);

  await listedWebhook(page, made.id, "event-book-1");
  await expect.poll(() => receiver.received).toHaveLength(1);

  await page.goto("/events");
  await rowsOf(page, "Events", 3);
  await expect(row(page, "Events", "not-subscribed").getByText("None")).toBeVisible();
  const assigned = row(page, "Events", "Driver assigned");
  await expect(assigned.getByText("event-book-1")).toBeVisible();
  await expect(assigned.getByText("Succeeded (HTTP 200)")).toBeVisible();
  await screenshot(page, "events");

  await page.getByLabel("Event", { exact: true }).selectOption({ label: "Order created" });
  await rowsOf(page, "Events", 2);
  const search = page.getByLabel("Find the events of an order");
  for (const name of ["event-book-1", order.trackingCode, order.id]) {
    await search.fill(name);
    await search.press("Enter");
    await rowsOf(page, "Events", 1);
    await expect(row(page, "Events", "event-book-1")).toBeVisible();
    await page.getByRole("button", { name: "Clear search" }).click();
    await rowsOf(page, "Events", 2);
  }
  await search.fill("nothing");
  await expect(page.getByText("No events match these filters")).toBeVisible();
  await page.getByRole("button", { name: "Show all events" }).click();
  await rowsOf(page, "Events", 3);
  await page.getByLabel("Mode").selectOption({ label: "Live" });
  await expect(page.getByText("No events match these filters")).toBeVisible();
  await page.getByLabel("Mode").selectOption({ label: "Test" });

  await row(page, "Events", "Driver assigned").getByText("Succeeded (HTTP 200)").click();
  await heading(page, "driver.assigned");
  await page.goBack();
  await row(page, "Events", "not-subscribed").getByRole("link", { name: "Order created" }).click();
  await heading(page, "not-subscribed");
  await page.setViewportSize(PHONE);
  await page.goto("/events");
  await expect(page.getByRole("list", { name: "Events" }).getByText("Driver assigned")).toBeVisible();
  await screenshot(page, "events-phone");
  await receiver.stop();
});

test("events are listed while their webhooks are unavailable", async ({ page }) => {
  await newBusiness(page, "Half a book");
  await placeOrder(await newTestKey(page), "half-book-1");
  await page.route(/\/v1\/portal\/events/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      json: { ...(await response.json()), incomplete: ["webhook-dispatcher"] },
    });
  });
  await page.goto("/events");
  await expect(page.getByText("Temporarily unavailable: webhooks.")).toBeVisible();
  await expect(row(page, "Events", "half-book-1").getByText("Unknown")).toBeVisible();
});
