import { placeOrder, report } from "../support/api";
import { newBusiness, openLive } from "../support/business";
import { check } from "../support/page-checks";
import { expect, screenshot, test } from "../support/test";

test("the evidence of each attempt is shown, downloaded and printed", async ({ page }) => {
  const key = await openLive(page, await newBusiness(page, "Proof"));
  const order = await placeOrder(key, "proof-1");
  for (const event of ["driver.assigned", "order.picked_up"]) await report(order.id, event);
  const place = { latitude: 12.9716004, longitude: 77.5946 };
  await report(order.id, "order.failed", { reason: "nobody at home", evidence: { place } });
  await report(order.id, "driver.assigned", { eventId: `${order.id}-again` });
  await report(order.id, "order.out_for_delivery");
  await page.goto(`/orders/${order.id}`);
  const first = page.getByRole("article", { name: "Attempt 1" });
  await expect(first.getByRole("link", { name: "12.9716, 77.5946" })).toHaveAttribute(
    "href",
    /mlat=12\.9716&/,
  );
  await expect(page.getByText("The records are intact")).toBeVisible();
  await expect(first.getByText("Nobody at home")).toBeVisible();

  await page.getByRole("button", { name: "Delivery code" }).click();
  const dialog = page.getByRole("dialog", { name: "Delivery code" });
  await dialog.getByRole("button", { name: "Show the code" }).click();
  const code = dialog.getByText(/^\d{6}$/);
  await expect(code).toBeVisible();
  const deliveryCode = await code.textContent();
  await check(page, "order-delivery-code", { bothSizes: true });
  await page.keyboard.press("Escape");

  const photo = { url: "https://fleet.example/photos/7", sha256: "0f".repeat(32) };
  const evidence = { place, photo, recipientName: "Asha Rao", recipientRelation: "neighbour", deliveryCode };
  await report(order.id, "order.delivered", { evidence });
  const second = page.getByRole("article", { name: "Attempt 2" });
  await expect(second.getByText("Asha Rao, Neighbour")).toBeVisible();
  await expect(second.getByText("The driver had the customer’s code")).toBeVisible();
  await expect(page.getByRole("button", { name: "Delivery code" })).toHaveCount(0);
  await expect(second.getByRole("link", { name: "Open the photo" })).toHaveAttribute("href", photo.url);
  await check(page, "order-evidence", { bothSizes: true });

  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download evidence" }).click();
  expect((await downloading).suggestedFilename()).toBe(`evidence-${order.id}.json`);

  await page.emulateMedia({ media: "print" });
  await expect(second.getByText("Asha Rao, Neighbour")).toBeVisible();
  await expect(page.getByRole("complementary", { name: "Side bar" })).toBeHidden();
  await expect(page.getByRole("link", { name: "Download evidence" })).toBeHidden();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();

  // The button prints nothing else, and names the order.
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => {
    window.print = () => undefined;
  });
  await page.getByRole("button", { name: "Print or save as PDF" }).click();
  await page.emulateMedia({ media: "print" });
  await expect(second.getByText("Asha Rao, Neighbour")).toBeVisible();
  await expect(page.getByText(`Order proof-1, ${order.id}`)).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveCount(0);
  await screenshot(page, "order-evidence-printed");
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});
