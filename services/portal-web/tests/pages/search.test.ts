import { placeOrder } from "../support/api";
import { logInAsOperator, newBusiness, newTestKey, openLive } from "../support/business";
import { check } from "../support/page-checks";
import { heading, row } from "../support/pages";
import { expect, PHONE, test } from "../support/test";

const RECEIVER = {
  customer: { name: "Meenakshi D'Souza", phone: "+919812345670", email: null },
  delivery: { addressLine1: "4 Beach Road", city: "Puducherry", state: "Puducherry", pincode: "605001" },
};

test("one box finds an order by what people remember of it, by keyboard", async ({ page }) => {
  const liveKey = await openLive(page, await newBusiness(page, "Finder"));
  const testKey = await newTestKey(page);
  await placeOrder(liveKey, "FIND-1001", RECEIVER);
  await placeOrder(testKey, "FIND-2002");
  await page.goto("/wallet");
  await heading(page, "Wallet");
  await page.keyboard.press("ControlOrMeta+k");
  const dialog = page.getByRole("dialog", { name: "Search orders" });
  const field = dialog.getByLabel("Search orders");
  await expect(field).toBeFocused();
  const hit = dialog.getByRole("link", { name: /FIND-1001/ });
  // The index follows within a second or two.
  await expect(async () => {
    await field.fill("");
    await field.fill("meena puducherry");
    await expect(hit).toBeVisible({ timeout: 2_000 });
  }).toPass();
  for (const text of ["d'souza", "45670", "98123 45670", "605001", "find-1001", "1001"]) {
    await field.fill(text);
    await expect(hit).toBeVisible();
    await expect(dialog.getByRole("link", { name: /FIND-2002/ })).toHaveCount(0);
  }
  await field.fill("find");
  await expect(dialog.getByRole("link", { name: /FIND-/ })).toHaveCount(2);
  await check(page, "search", { bothSizes: true });
  await field.fill("nothing like this");
  await expect(dialog.getByText("No order found")).toBeVisible();
  await field.fill("meenakshi");
  await expect(hit).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await expect(hit).toBeFocused();
  await page.keyboard.press("Enter");
  await heading(page, "FIND-1001");
});

test("filters of the list are combined, and stay in the address", async ({ page }) => {
  await newBusiness(page, "Filters");
  const key = await newTestKey(page);
  const cod = {
    payment: {
      paymentType: "cod",
      orderValuePaise: 1_000,
      deliveryFeePaise: 4_900,
      codAmountPaise: 5_900,
      currency: "INR",
    },
  };
  await placeOrder(key, "paid-1");
  await placeOrder(key, "cod-1", cod);
  await page.goto("/orders?mode=test");
  await expect(row(page, "Test orders", "paid-1")).toBeVisible();
  await page.getByRole("button", { name: "Filters", exact: true }).click();
  await page.getByLabel("Payment").selectOption({ label: "Cash on delivery" });
  await page.getByLabel("Cash", { exact: true }).selectOption({ label: "Cash to collect" });
  await page.getByLabel("From").fill("2020-01-01");
  await expect(row(page, "Test orders", "paid-1")).toHaveCount(0);
  await expect(row(page, "Test orders", "cod-1")).toBeVisible();
  await check(page, "orders-filtered", { bothSizes: true });
  await page.reload();
  await expect(page.getByRole("button", { name: "Filters (3)" })).toBeVisible();
  await expect(row(page, "Test orders", "cod-1")).toBeVisible();
  await page.getByLabel("To").fill("2020-01-02");
  await expect(page.getByText("No matching order")).toBeVisible();
  await page.getByRole("button", { name: "Show all orders" }).click();
  await expect(row(page, "Test orders", "paid-1")).toBeVisible();
  // A date is a search, too.
  const search = page.getByLabel("Find an order");
  await search.fill("1 Jan 2020");
  await expect(page.getByText("No matching order")).toBeVisible();
  await search.fill(new Date().toLocaleDateString("en-GB", { timeZone: "Asia/Kolkata" }));
  await expect(row(page, "Test orders", "paid-1")).toBeVisible();
});

test("on a phone the header has the search, and the console finds orders of any business", async ({
  page,
}) => {
  const { name } = await newBusiness(page, "Phone finder");
  const reference = `everywhere-${Date.now()}`;
  await placeOrder(await newTestKey(page), reference, RECEIVER);
  await page.setViewportSize(PHONE);
  await page.goto("/");
  await page.getByRole("button", { name: "Search orders" }).click();
  await page.getByRole("dialog").getByLabel("Search orders").fill(reference);
  await page
    .getByRole("dialog")
    .getByRole("link", { name: new RegExp(reference) })
    .click();
  await heading(page, reference);

  await logInAsOperator(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/operator/businesses");
  await heading(page, "Businesses");
  await page.keyboard.press("ControlOrMeta+k");
  const dialog = page.getByRole("dialog", { name: "Search orders" });
  await dialog.getByLabel("Search orders").fill(reference);
  await expect(dialog.getByRole("link", { name: new RegExp(reference) })).toContainText(name);
  await check(page, "operator-search", { bothSizes: true });
  await dialog.getByLabel("Search orders").press("Enter");
  await page.waitForURL((url) => url.searchParams.get("search") === reference);
  const found = page.getByRole("article", { name: `Order ${reference} of ${name}` });
  await expect(found).toBeVisible();
  await page.getByRole("main").getByLabel("Find an order").fill(`meenakshi 605001 ${reference}`);
  await expect(found).toBeVisible();
  const today = new Date().toLocaleDateString("en-GB", { timeZone: "Asia/Kolkata" });
  for (const [date, isFound] of [
    [`${reference} ${today}`, true],
    [`${reference} 1 Jan 2020`, false],
    ["1 Jan 2020", false],
    [reference, true],
  ] as const) {
    await page.getByRole("main").getByLabel("Find an order").fill(date);
    await expect(isFound ? found : page.getByText("No order found"), date).toBeVisible();
  }
  await page.getByLabel("To", { exact: true }).fill("2020-01-31");
  await expect(page.getByText("No order found")).toBeVisible();
  await page.reload();
  await expect(page.getByText("No order found")).toBeVisible();
  await page.getByLabel("From", { exact: true }).fill("2020-02-01");
  await expect(page.getByText("From must be before To.")).toBeVisible();
  await page.getByLabel("To", { exact: true }).fill("");
  await expect(found).toBeVisible();
  // Both days are a search of their own.
  await page.getByRole("main").getByLabel("Find an order").fill("");
  await expect(page.getByText("Enter what you know of the order")).toBeVisible();
  await page.getByLabel("To", { exact: true }).fill("2020-02-28");
  await expect(page.getByText("No order found")).toBeVisible();
});
