// The five roles of a business: what each sees of the portal and of customers.
import { placeOrder } from "../support/api";
import { joinTeam, newTeam, newTestKey, type Session } from "../support/business";
import { check, settled } from "../support/page-checks";
import { follow, goTo, heading } from "../support/pages";
import { expect, PHONE, test } from "../support/test";

const CUSTOMERS_PHONE = "+919800000001";
const STREET = "12 MG Road";
const NOTICE = "Your role does not show customers’ phones and addresses.";

const EVERYBODY = [
  "Overview",
  "Orders",
  "Needs attention",
  "Exports",
  "Events",
  "Subscription",
  "Pickup profile",
  "Account",
];
const KEYS_AND_WEBHOOKS = ["Quick start", "API keys", "Webhooks"];
const MONEY = ["Wallet", "Cash on delivery"];

/** What the side bar has for each role, what it lacks, and what the page of an order offers. */
const ROLES = [
  {
    role: "developer",
    pages: [...EVERYBODY, ...KEYS_AND_WEBHOOKS, ...MONEY],
    closed: [],
    seesCustomers: false,
    buttons: ["Cancel order", "Driver assigned"],
  },
  {
    role: "finance",
    pages: [...EVERYBODY, ...MONEY],
    closed: ["/api-keys", "/webhooks", "/webhooks/new"],
    seesCustomers: false,
    buttons: [],
  },
  {
    role: "support",
    pages: [...EVERYBODY, "Webhooks"],
    closed: ["/api-keys", "/wallet", "/cash-on-delivery"],
    seesCustomers: true,
    buttons: ["Cancel order"],
  },
  {
    role: "viewer",
    pages: [...EVERYBODY, ...KEYS_AND_WEBHOOKS, ...MONEY],
    closed: [],
    seesCustomers: false,
    buttons: [],
  },
] as const;

let order: string;
let owner: Session;

test.beforeAll(async ({ request }) => {
  await newTeam({ request }, "Many hands");
  order = (await placeOrder(await newTestKey({ request }), "many-hands-1")).id;
  owner = await request.storageState();
});

for (const { role, pages, closed, seesCustomers, buttons } of ROLES) {
  test(`${role}: sees the pages of the role, and customers only if the role helps them`, async ({
    page,
    visit,
  }) => {
    await joinTeam(page, await visit({ storageState: owner }), role);
    await page.goto("/");
    await heading(page, "Overview");
    const shown = await page.getByRole("navigation", { name: "Main" }).getByRole("link").allTextContents();
    expect(shown.filter((name) => name !== "API documentation").sort()).toEqual([...pages].sort());
    await expect(page.getByRole("region", { name: "Quick start" })).toHaveCount(
      pages.some((name) => name === "API keys") ? 1 : 0,
    );
    for (const path of closed) {
      await follow(page, path);
      await heading(page, "No access");
      await expect(page.getByText("Your role does not include this page.")).toBeVisible();
      await goTo(page, "Overview");
    }
    await page.goto(`/orders/${order}`);
    await heading(page, "many-hands-1");
    const delivery = page.getByRole("region", { name: "Delivery" });
    const request = page.getByLabel("the body of the request");
    if (seesCustomers) {
      await expect(delivery.getByRole("link", { name: CUSTOMERS_PHONE })).toBeVisible();
      await expect(delivery.getByText(STREET)).toBeVisible();
      await expect(page.getByText(NOTICE)).toHaveCount(0);
    } else {
      await expect(delivery.getByText("••••••0001")).toBeVisible();
      await expect(delivery.getByText(NOTICE)).toBeVisible();
      await settled(page);
      expect(await page.content()).not.toContain(STREET);
      await page.getByRole("tab", { name: "Developers" }).click();
      await expect(request.first()).toBeVisible();
      await settled(page);
      const content = await page.content();
      expect(content).not.toContain(CUSTOMERS_PHONE.slice(3));
      expect(content).not.toContain(STREET);
    }
    await page.getByRole("tab", { name: "Delivery" }).click();
    for (const name of ["Cancel order", "Driver assigned"] as const) {
      const offered = page.getByRole("main").getByRole("button", { name, exact: true });
      await expect(offered).toHaveCount(([...buttons] as string[]).includes(name) ? 1 : 0);
    }
    await check(page, `order-as-${role}`);
    // The pages of the role call nothing that it may not call.
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    for (const name of pages) await goTo(page, name);
    await settled(page);
    expect(refused).toEqual([]);
  });
}

test("a page without permission fits a phone and is accessible", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  await joinTeam(page, await visit({ storageState: owner }), "support");
  await page.goto("/wallet");
  await heading(page, "No access");
  await check(page, "no-access-phone");
});
