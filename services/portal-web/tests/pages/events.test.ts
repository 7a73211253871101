import { beforeAll, test } from "vitest";
import { placeOrder } from "../support/api";
import { PHONE, screenshot, type Visitor, visit } from "../support/browser";
import { ask, listedWebhook, newBusiness, newTestKey } from "../support/business";
import { goTo, heading, row, rowsOf } from "../support/pages";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";

let visitor: Visitor;
beforeAll(async () => {
  visitor = await visit();
});

test("events are found by order and kind, and each has its webhooks", async () => {
  const { page } = visitor;
  await newBusiness(visitor, "Event book");
  await page.goto("/");
  await goTo(page, "Events");
  await page.getByText("No events yet").waitFor();
  const key = await newTestKey(visitor);
  const receiver = await Receiver.start();
  const endpoint = { url: receiver.url, events: ["driver.assigned"] };
  const made = await ask(visitor, "POST", "/webhook-endpoints", endpoint, 201);
  receiver.secret = String(made.secret);
  await placeOrder(key, "not-subscribed");
  const order = await placeOrder(key, "event-book-1");
  await ask(visitor, "POST", `/orders/${order.id}/simulate`, { event: "driver.assigned" }, 200);

  await listedWebhook(visitor, made.id, "event-book-1");
  await until("the webhook has arrived", async () => receiver.received.length === 1);

  await page.goto("/events");
  await rowsOf(page, "Events", 3);
  await row(page, "Events", "not-subscribed").getByText("None").waitFor();
  const assigned = row(page, "Events", "Driver assigned");
  await assigned.getByText("event-book-1").waitFor();
  await assigned.getByText("Succeeded (HTTP 200)").waitFor();
  await screenshot(page, "events");

  await page.getByLabel("Event", { exact: true }).selectOption({ label: "Order created" });
  await rowsOf(page, "Events", 2);
  const search = page.getByLabel("Find the events of an order");
  for (const name of ["event-book-1", order.trackingCode, order.id]) {
    await search.fill(name);
    await rowsOf(page, "Events", 1);
    await row(page, "Events", "event-book-1").waitFor();
    await page.getByRole("button", { name: "Clear search" }).click();
    await rowsOf(page, "Events", 2);
  }
  await search.fill("nothing");
  await page.getByText("No events match these filters").waitFor();
  await page.getByRole("button", { name: "Show all events" }).click();
  await rowsOf(page, "Events", 3);
  await page.getByLabel("Mode").selectOption({ label: "Live" });
  await page.getByText("No events match these filters").waitFor();
  await page.getByLabel("Mode").selectOption({ label: "Test" });

  await row(page, "Events", "Driver assigned").getByText("Succeeded (HTTP 200)").click();
  await heading(page, "driver.assigned");
  await page.goBack();
  await row(page, "Events", "not-subscribed").getByRole("link", { name: "Order created" }).click();
  await heading(page, "not-subscribed");
  await page.setViewportSize(PHONE);
  await page.goto("/events");
  await page.getByRole("list", { name: "Events" }).getByText("Driver assigned").waitFor();
  await screenshot(page, "events-phone");
  await receiver.stop();
});

test("events are listed while their webhooks are unavailable", async () => {
  const looker = await visit();
  const { page } = looker;
  await newBusiness(looker, "Half a book");
  await placeOrder(await newTestKey(looker), "half-book-1");
  await page.route(/\/v1\/portal\/events/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      json: { ...(await response.json()), incomplete: ["webhook-dispatcher"] },
    });
  });
  await page.goto("/events");
  await page.getByText("Temporarily unavailable: webhooks.").waitFor();
  await row(page, "Events", "half-book-1").getByText("Unknown").waitFor();
});
