// The home pages: of a business, by role, and of the operator.
import type { Page } from "@playwright/test";
import { operator, placeOrder, report } from "../support/api";
import {
  ask,
  type Business,
  joinTeam,
  logInAsOperator,
  newBusiness,
  newTeam,
  openLive,
  type Session,
} from "../support/business";
import { check } from "../support/page-checks";
import { figure, goTo, heading, openBusiness, row } from "../support/pages";
import { expect, PHONE, test } from "../support/test";

const COD = {
  payment: {
    paymentType: "cod",
    orderValuePaise: 150_000,
    deliveryFeePaise: 4_900,
    codAmountPaise: 154_900,
    currency: "INR",
  },
};

let business: Business;
let owner: Session;

test.beforeAll(async ({ request }) => {
  const caller = { request };
  business = await newTeam(caller, `Home ${Date.now()}`);
  // Three orders leave a low balance.
  const key = await openLive(caller, business, 15_000);
  const failed = await placeOrder(key, "home-failed");
  for (const event of ["driver.assigned", "order.picked_up"]) await report(failed.id, event);
  await report(failed.id, "order.failed", { reason: "Nobody at home" });
  const cash = await placeOrder(key, "home-cash", COD);
  for (const event of ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"])
    await report(cash.id, event);
  await placeOrder(key, "home-new");
  await ask(caller, "POST", "/webhook-endpoints", { url: "http://127.0.0.1:9/nobody" }, 201);
  owner = await request.storageState();
});

const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("after the first live order, the overview shows today, what needs attention, and money", async ({
  visit,
}) => {
  const page = await visit({ storageState: owner });
  await page.goto("/");
  await heading(page, "Overview");
  const today = part(page, "Orders today");
  for (const [name, count] of [
    ["Placed", "3"],
    ["No driver yet", "1"],
    ["With a driver", "0"],
    ["Delivered", "1"],
    ["Failed or returned", "1"],
  ] as const)
    await expect(figure(today, name)).toHaveText(count);
  const attention = part(page, "Needs attention");
  await expect(figure(attention, "Failed deliveries")).toHaveText("1");
  await expect(figure(attention, "No news")).toHaveText("0");
  await expect(attention.getByText("For more than 30 minutes", { exact: true })).toBeVisible();
  await expect(figure(attention, "Cash discrepancies")).toHaveText("0");
  await expect(attention.getByText("No open discrepancy", { exact: true })).toBeVisible();
  await expect(attention.getByRole("link", { name: "Cash discrepancies" })).toHaveAttribute(
    "href",
    "/cash-on-delivery?discrepant=true",
  );
  await expect(today.getByRole("link", { name: "Failed", exact: true })).toHaveAttribute(
    "href",
    /^\/orders\?mode=live&from=(\d{4}-\d\d-\d\d)&to=\1&status=failed$/,
  );
  await expect(attention.getByText("All within the promised time")).toBeVisible();
  const money = part(page, "Delivery and money");
  await expect(figure(money, "Delivery rate")).toHaveText("50 %");
  await expect(figure(money, "Balance")).toHaveText("₹3.00");
  await expect(money.getByText("Lasts less than a day")).toBeVisible();
  await expect(async () => {
    await page.reload();
    await expect(figure(money, "Cash due")).toHaveText("₹1,549.00", { timeout: 3_000 });
  }).toPass();
  await expect(part(page, "Quick start")).toHaveCount(0);
  await check(page, "home", { bothSizes: true });
  const late = attention.getByRole("link", { name: "Cash late" });
  await expect(late).toHaveAttribute("href", "/cash-on-delivery?late=true");
  await attention.getByRole("link", { name: "Failed deliveries" }).click();
  await expect(row(page, "Failed", "home-failed")).toBeVisible();
  await expect(row(page, "Failed", "home-new")).toHaveCount(0);
  await goTo(page, "Quick start");
  await expect(page.getByText("Complete: live orders are unlocked.")).toBeVisible();
  await check(page, "quick-start-live", { bothSizes: true });
});

test("a page that stays open follows midnight in India", async ({ visit }) => {
  const page = await visit({ storageState: owner });
  await page.clock.install({ time: new Date("2026-01-31T18:29:00Z") });
  await page.goto("/");
  const today = part(page, "Orders today");
  const placed = today.getByRole("link", { name: "Placed" });
  await expect(placed).toHaveAttribute("href", "/orders?mode=live&from=2026-01-31&to=2026-01-31");
  await expect(figure(today, "Placed")).toHaveText("3");
  let answer = () => {};
  const isAwaited = new Promise<void>((go) => {
    answer = go;
  });
  await page.route("**/v1/portal/home", async (route) => {
    const home = await (await route.fetch()).json();
    await isAwaited;
    const orders = { ...home.orders, today: [{ status: "created", orders: 7 }] };
    await route.fulfill({ json: { ...home, orders } });
  });
  const read = page.waitForRequest("**/v1/portal/home");
  await page.clock.fastForward("02:00");
  await read;
  // The figures of yesterday are not next to the links of today.
  await expect(placed).toHaveCount(0);
  answer();
  await expect(placed).toHaveAttribute("href", "/orders?mode=live&from=2026-02-01&to=2026-02-01");
  await expect(figure(today, "Placed")).toHaveText("7");
});

test("a role sees the parts that it may read", async ({ page, visit }) => {
  await joinTeam(page, await visit({ storageState: owner }), "support");
  await page.goto("/");
  await expect(figure(part(page, "Orders today"), "Placed")).toHaveText("3");
  await expect(part(page, "Delivery")).toBeVisible();
  for (const name of ["Balance", "Cash due", "Cash late"])
    await expect(page.getByRole("main").getByText(name, { exact: true })).toHaveCount(0);
  await expect(figure(part(page, "Needs attention"), "Webhook endpoints")).toHaveText(/\d/);
});

test("a service that does not answer is named, and the other figures stay", async ({ visit }) => {
  const page = await visit({ storageState: owner });
  await page.route("**/v1/portal/home", async (route) => {
    const home = await (await route.fetch()).json();
    return route.fulfill({ json: { ...home, wallet: null, cash: null, incomplete: ["wallet"] } });
  });
  await page.goto("/");
  await expect(page.getByText("Not responding: wallet.")).toBeVisible();
  await expect(figure(part(page, "Delivery and money"), "Balance")).toHaveText("Unavailable");
  await expect(figure(part(page, "Orders today"), "Placed")).toHaveText("3");
  await check(page, "home-incomplete", { bothSizes: true });
});

test("a debt is named next to the balance", async ({ visit }) => {
  const page = await visit({ storageState: owner });
  await page.route("**/v1/portal/home", async (route) => {
    const home = await (await route.fetch()).json();
    const wallet = { ...home.wallet, balancePaise: 0, owedPaise: 5_000, daysLeft: 0 };
    return route.fulfill({ json: { ...home, wallet } });
  });
  await page.goto("/");
  const money = part(page, "Delivery and money");
  await expect(figure(money, "Balance")).toHaveText("₹0.00");
  await expect(money.getByText("₹50.00 owed, paid first by the next top-up")).toBeVisible();
  await expect(money.getByText("Lasts less than a day")).toHaveCount(0);
});

test("until the first live order, the overview leads to it", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  await newBusiness(page, "No orders");
  await page.goto("/");
  await expect(part(page, "Quick start")).toBeVisible();
  await expect(part(page, "Orders today")).toHaveCount(0);
});

test("the operator's overview shows who waits and who needs attention", async ({ page, request }) => {
  const waiting = await newBusiness({ request }, `Waiting ${Date.now()}`);
  await ask({ request }, "PUT", "/subscription", { plan: "growth" }, 200);
  await logInAsOperator(page);
  await page.goto("/operator");
  await heading(page, "Overview");
  const list = (name: string) => page.getByRole("list", { name, exact: true });
  for (const name of ["New sign-ups", "Requested plans"])
    await expect(list(name).getByRole("link", { name: waiting.name })).toBeVisible();
  await expect(list("Low balances").getByRole("link", { name: business.name })).toBeVisible();
  await check(page, "operator-overview", { bothSizes: true });
  await list("New sign-ups").getByRole("link", { name: waiting.name }).click();
  await heading(page, waiting.name);
  await operator("PATCH", `/businesses/${waiting.id}`, { status: "active" });
  await page.goto("/operator/overview");
  await expect(list("Requested plans").getByRole("link", { name: waiting.name })).toBeVisible();
  await expect(list("New sign-ups").getByRole("link", { name: waiting.name })).toHaveCount(0);
});

test("a list of requested plans that has not all of them leads to all", async ({ page, request }) => {
  const waiting = await newBusiness({ request }, `Waiting too ${Date.now()}`);
  await ask({ request }, "PUT", "/subscription", { plan: "growth" }, 200);
  await logInAsOperator(page);
  let listed = 19;
  await page.route("**/v1/operator/home", async (route) => {
    const home = await (await route.fetch()).json();
    const one = home.planRequests.find(({ id }: { id: string }) => id === waiting.id);
    const planRequests = Array.from({ length: listed }, (_, index) => ({ ...one, id: `${one.id}${index}` }));
    return route.fulfill({ json: { ...home, planRequests } });
  });
  const all = part(page, "Requested plans").getByRole("link", { name: "All", exact: true });
  await page.goto("/operator");
  await expect(part(page, "Requested plans").getByRole("listitem")).toHaveCount(19);
  await expect(all).toHaveCount(0);
  listed = 20;
  await page.reload();
  await all.click();
  await expect(row(page, "Businesses", waiting.name)).toBeVisible();
});

test("the list of businesses shows balance, orders and the last order", async ({ page }) => {
  await logInAsOperator(page);
  await page.goto(`/operator/businesses?search=${business.id}`);
  const listed = row(page, "Businesses", business.name);
  for (const shown of ["Active", "Unlocked", "₹3.00", "3"])
    await expect(listed.getByText(shown, { exact: true }).first()).toBeVisible();
  await expect(listed.getByRole("cell", { name: /ago|just now/ }).first()).toBeVisible();
  await check(page, "operator-businesses-activity", { bothSizes: true });
});

test("the operator reads a business's orders, cash and approvals in tabs", async ({ page }) => {
  await logInAsOperator(page);
  await openBusiness(page, business);
  await page.getByRole("tab", { name: "Orders" }).click();
  await expect(row(page, "Orders", "home-new")).toBeVisible();
  await page.getByLabel("Order status").selectOption({ label: "Failed" });
  await expect(row(page, "Orders", "home-new")).toHaveCount(0);
  await page.reload();
  await expect(row(page, "Orders", "home-failed")).toBeVisible();
  await check(page, "operator-business-orders", { bothSizes: true });
  await page.getByRole("tab", { name: "Cash" }).click();
  await expect(row(page, "Orders with cash", "home-cash")).toBeVisible();
  await expect(figure(part(page, "Cash totals"), "Owed to the business")).toHaveText("₹1,549.00");
  await check(page, "operator-business-cash", { bothSizes: true });
  await page.getByRole("tab", { name: "Approvals" }).click();
  await expect(page.getByText("No requests yet")).toBeVisible();
  await page.getByRole("tab", { name: "Orders" }).click();
  await row(page, "Orders", "home-failed").getByRole("link").click();
  await expect(page.getByRole("article", { name: `Order home-failed of ${business.name}` })).toBeVisible();
});
