// The five roles of a business: what each sees of the portal and of customers.
import { beforeAll, describe, expect, test } from "vitest";
import { placeOrder } from "../support/api";
import { PHONE, type Visitor, visit } from "../support/browser";
import { confirmEmail, joinTeam, newBusiness, newTeam, newTestKey } from "../support/business";
import { check, settled } from "../support/page-checks";
import { goTo, heading } from "../support/pages";

const CUSTOMERS_PHONE = "+919800000001";
const STREET = "12 MG Road";
const NOTICE = "Your role does not show customers’ phones and addresses.";

const EVERYBODY = ["Overview", "Orders", "Events", "Subscription", "Pickup profile", "Account"];
const KEYS_AND_WEBHOOKS = ["API keys", "Webhooks"];
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
let owner: Visitor;

beforeAll(async () => {
  owner = await visit();
  await newTeam(owner, "Many hands");
  order = (await placeOrder(await newTestKey(owner), "many-hands-1")).id;
});

describe.each(ROLES)("$role", ({ role, pages, closed, seesCustomers, buttons }) => {
  test("sees the pages of the role, and customers only if the role helps them", async () => {
    const visitor = await visit();
    const { page } = visitor;
    await joinTeam(visitor, owner, role);
    await page.goto("/");
    await heading(page, "Overview");
    const shown = await page.getByRole("navigation", { name: "Main" }).getByRole("link").allTextContents();
    expect(shown.filter((name) => name !== "API documentation").sort()).toEqual([...pages].sort());
    expect(await page.getByRole("region", { name: "Quick start" }).count()).toBe(
      pages.some((name) => name === "API keys") ? 1 : 0,
    );
    for (const path of closed) {
      await page.goto(path);
      await heading(page, "No access");
      await page.getByText("Your role does not include this page.").waitFor();
    }
    await page.goto(`/orders/${order}`);
    await heading(page, "many-hands-1");
    const delivery = page.getByRole("region", { name: "Delivery" });
    const request = page.getByLabel("the body of the request");
    if (seesCustomers) {
      await delivery.getByRole("link", { name: CUSTOMERS_PHONE }).waitFor();
      await delivery.getByText(STREET).waitFor();
      expect(await page.getByText(NOTICE).count()).toBe(0);
    } else {
      await delivery.getByText("••••••0001").waitFor();
      await delivery.getByText(NOTICE).waitFor();
      await request.first().waitFor();
      await settled(page);
      const content = await page.content();
      expect(content).not.toContain(CUSTOMERS_PHONE.slice(3));
      expect(content).not.toContain(STREET);
    }
    for (const name of ["Cancel order", "Driver assigned"] as const) {
      const offered = await page.getByRole("main").getByRole("button", { name, exact: true }).count();
      expect(offered, name).toBe(([...buttons] as string[]).includes(name) ? 1 : 0);
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
});

test("the invite dialog explains five roles, also on a phone", async () => {
  const visitor = await visit({ viewport: PHONE });
  const { page } = visitor;
  await confirmEmail(visitor, (await newBusiness(visitor, "Inviting")).email);
  await page.goto("/account/team");
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a user" });
  for (const label of ["Owner", "Developer", "Finance", "Support", "Viewer"]) {
    const choice = dialog.getByRole("radio", { name: label, exact: true });
    const explained = await choice.getAttribute("aria-describedby");
    expect(explained, label).not.toBeNull();
  }
  await check(page, "invite-roles-phone");
});

test("a page without permission fits a phone and is accessible", async () => {
  const visitor = await visit({ viewport: PHONE });
  const { page } = visitor;
  await joinTeam(visitor, owner, "support");
  await page.goto("/wallet");
  await heading(page, "No access");
  await check(page, "no-access-phone");
});
