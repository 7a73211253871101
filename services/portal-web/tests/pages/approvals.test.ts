// The stack under test executes every call of the operator at once, so these tests answer the calls of approvals
// themselves. portal-api's tests check the real ones.

import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { operator } from "../support/api";
import { DESKTOP, PHONE, visit } from "../support/browser";
import { type Business, logInAsOperator, newBusiness } from "../support/business";
import { check } from "../support/page-checks";
import { heading, openBusiness, row, takeSecret } from "../support/pages";

let business: Business;
beforeAll(async () => {
  const owner = await visit();
  business = await newBusiness(owner, `Approved ${Date.now()}`);
});

const CREDIT = "apr_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const LINK = "apr_01ARZ3NDEKTSV4RRFFQ69G5FAW";

interface Approval {
  id: string;
  state: string;
  mayDecide: boolean;
  [field: string]: unknown;
}

function approvals(): Approval[] {
  const both = {
    state: "pending",
    businessId: business.id,
    businessName: business.name,
    requestedAt: new Date().toISOString(),
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    decidedBy: null,
    decidedAt: null,
    reason: null,
    endedAt: null,
    outcome: null,
  };
  const asha = { type: "person", id: "stf_01ARZ3NDEKTSV4RRFFQ69G5FAV", name: "asha@carrier.example" };
  const credit = { amountPaise: 700_000, reference: "neft-0815" };
  return [
    {
      ...both,
      id: CREDIT,
      kind: "credit",
      parameters: credit,
      requestedBy: asha,
      yours: false,
      mayDecide: true,
    },
    {
      ...both,
      id: LINK,
      kind: "issue_reset_link",
      parameters: { userId: "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV" },
      userEmail: business.email,
      requestedBy: { ...asha, name: "me@carrier.example" },
      yours: true,
      mayDecide: false,
    },
  ];
}

/** The settings of an installation with approvals. */
async function requireApprovals(page: Page) {
  const policy = { creditsAbovePaise: 50_000, liftSuspension: true, resetLinks: false };
  await page.route(/\/v1\/operator\/session$/, async (route) => {
    const response = await route.fetch();
    if (!response.ok() || response.status() === 204) return route.fulfill({ response });
    return route.fulfill({ response, json: { ...(await response.json()), approvals: policy } });
  });
}

/** Answers the calls of approvals as portal-api would. Returns what was sent, and changes a request. */
async function answerApprovals(page: Page) {
  const all = approvals();
  const sent: string[] = [];
  await page.route(/\/v1\/operator\/approvals/, (route) => {
    const request = route.request();
    const { pathname, searchParams } = new URL(request.url());
    const [, id, step] = pathname.match(/approvals\/([^/]+)(?:\/(.+))?$/) ?? [];
    const one = all.find((approval) => approval.id === id);
    if (step) sent.push(`${step} ${request.postData() ?? ""}`);
    if (step === "reset-link") {
      return route.fulfill({
        status: 201,
        json: { url: "https://portal.example/reset-password#token=x", expiresAt: new Date().toISOString() },
      });
    }
    if (step && one)
      Object.assign(one, { state: step === "approve" ? "executed" : "rejected", mayDecide: false });
    if (one) return route.fulfill({ json: one });
    const state = searchParams.get("state");
    const data = all.filter((approval) => !state || approval.state === state);
    return route.fulfill({ json: { data, hasMore: false } });
  });
  return {
    sent,
    change: (id: string, change: object) => Object.assign(all.find((one) => one.id === id) ?? {}, change),
  };
}

test.each([
  ["desk", DESKTOP],
  ["phone", PHONE],
] as const)("a waiting request is counted, opened and approved (%s)", async (size, viewport) => {
  const visitor = await visit({ viewport });
  const { page } = visitor;
  const { sent } = await answerApprovals(page);
  await logInAsOperator(visitor);
  await page.goto("/operator/businesses");
  if (size === "phone") await page.getByRole("button", { name: "Navigation" }).click();
  await page.getByRole("link", { name: "Approvals 1 waiting" }).click();
  await heading(page, "Approvals");
  await check(page, `${size}-operator-approvals`);
  await page.getByRole("link", { name: "Credit ₹7,000.00" }).click();
  await heading(page, "Credit ₹7,000.00");
  for (const words of ["neft-0815", "asha@carrier.example", business.name]) {
    await page.getByText(words).first().waitFor();
  }
  await check(page, `${size}-operator-approval`);
  await page.getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog", { name: "Approve: Credit ₹7,000.00?" });
  await dialog.getByText("seven thousand rupees").waitFor();
  await dialog.getByLabel("Reason (optional)").fill("Seen on the statement.");
  await check(page, `${size}-operator-approve`);
  await dialog.getByRole("button", { name: "Approve" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByText("Executed").waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(sent).toEqual(['approve {"reason":"Seen on the statement."}']);
});

test("a rejection needs a reason", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const { sent } = await answerApprovals(page);
  await logInAsOperator(visitor);
  await page.goto(`/operator/approvals/${CREDIT}`);
  await page.getByRole("button", { name: "Reject" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Reject" }).click();
  await dialog.getByText("Enter a reason.").waitFor();
  expect(sent).toEqual([]);
  await dialog.getByLabel("Reason").fill("No such transfer.");
  await dialog.getByRole("button", { name: "Reject" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByText("Rejected", { exact: true }).waitFor();
  expect(sent).toEqual(['reject {"reason":"No such transfer."}']);
  await page.goto("/operator/approvals?state=rejected");
  await row(page, "Approvals", "Credit ₹7,000.00").getByText("Rejected").waitFor();
});

test("the requester fetches an approved link once", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const { change, sent } = await answerApprovals(page);
  await logInAsOperator(visitor);
  await page.goto(`/operator/approvals/${LINK}`);
  await heading(page, "Create reset link");
  await page.getByText(business.email).waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  change(LINK, { state: "approved" });
  await page.goto("/operator/approvals");
  await row(page, "Approvals", "Create reset link").getByText("Approved: show the link once").waitFor();
  await page.getByRole("link", { name: "Approvals 2 waiting" }).waitFor();
  await page.getByRole("link", { name: "Create reset link" }).click();
  await page.getByRole("button", { name: "Show reset link" }).click();
  change(LINK, { state: "executed" });
  await page.getByRole("dialog").getByRole("button", { name: "Show link" }).click();
  expect(await takeSecret(page, "Reset link")).toContain("#token=x");
  expect(sent).toHaveLength(1);
  await page.getByText("Executed").waitFor();
  expect(await page.getByRole("button", { name: "Show reset link" }).count()).toBe(0);
});

test("calls that need a second person say that they were sent for approval", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await answerApprovals(page);
  await requireApprovals(page);
  await logInAsOperator(visitor);
  await openBusiness(page, business);
  const [credit] = approvals();
  await page.route(/\/v1\/operator\/businesses\/[^/]+(\/wallet\/credits|\/password-resets)?$/, (route) =>
    route.request().method() === "GET" ? route.continue() : route.fulfill({ status: 202, json: credit }),
  );
  const sent = page.getByText("Sent for approval. Another person must approve it.");
  await page.getByRole("button", { name: "Credit wallet" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount", { exact: true }).fill("7,000");
  await dialog.getByText("A second person must approve credits and debits above ₹500.00.").waitFor();
  await dialog.getByLabel("Reference").fill("neft-0815");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByRole("button", { name: "Credit ₹7,000.00" }).click();
  await dialog.waitFor({ state: "hidden" });
  await sent.first().waitFor();
  expect(await page.getByRole("link", { name: "Open the request" }).first().getAttribute("href")).toBe(
    `/operator/approvals/${CREDIT}`,
  );
  await page.getByRole("button", { name: "Approve" }).click();
  await sent.nth(1).waitFor();
  await page.getByRole("tab", { name: "Users" }).click();
  await page.getByRole("button", { name: `Create reset link for ${business.email}` }).click();
  await sent.nth(2).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
});

test("on a phone, the console's menu opens, reaches every page, and closes", async () => {
  const visitor = await visit({ viewport: PHONE });
  const { page } = visitor;
  await logInAsOperator(visitor);
  await page.goto("/operator/businesses");
  await heading(page, "Businesses");
  const menu = page.getByRole("button", { name: "Navigation" });
  const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
  expect(await links.count()).toBe(0);
  await menu.click();
  const names = await links.allTextContents();
  const pages = ["Businesses", "Find an order", "Cash", "Approvals", "Staff", "Tokens", "Audit log"];
  expect(names).toEqual([...pages, "Sessions"]);
  for (const link of await links.all()) {
    const box = await link.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= PHONE.width).toBe(true);
  }
  await check(page, "phone-operator-menu");
  await links.filter({ hasText: "Audit log" }).click();
  await heading(page, "Audit log");
  await links.first().waitFor({ state: "hidden" });
  expect(await menu.getAttribute("aria-expanded")).toBe("false");
});

test.each([
  ["desk", DESKTOP],
  ["phone", PHONE],
] as const)("the page of a business shows what waits about it (%s)", async (size, viewport) => {
  const visitor = await visit({ viewport });
  const { page } = visitor;
  const { change } = await answerApprovals(page);
  const { status } = await operator("PATCH", `/businesses/${business.id}`, { status: "suspended" });
  expect(status).toBe("suspended");
  await logInAsOperator(visitor);
  await page.goto(`/operator/businesses/${business.id}`);
  await heading(page, business.name);
  const waiting = page.getByRole("region", { name: "Waiting requests" });
  const credit = "Waiting for a second person: credit of ₹7,000.00, requested by asha@carrier.example.";
  await waiting.getByText(credit).waitFor();
  await page.getByRole("button", { name: "Lift suspension" }).waitFor();
  change(LINK, { state: "approved" });
  change(CREDIT, { kind: "lift_suspension", parameters: { status: "active", suspension: 1 } });
  await page.reload();
  await waiting.getByText("Approved: reset link for a user. Show the link once.").waitFor();
  await check(page, `${size}-business-with-requests`);
  await page.getByRole("link", { name: "Lift requested: open" }).click();
  await heading(page, "Lift suspension");
  await operator("PATCH", `/businesses/${business.id}`, { status: "inactive" });
});

test("an empty list says which actions need an approval", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await requireApprovals(page);
  await page.route(/\/v1\/operator\/approvals/, (route) =>
    route.fulfill({ json: { data: [], hasMore: false } }),
  );
  await logInAsOperator(visitor);
  await page.goto("/operator/approvals");
  const text =
    "These actions need an approval: credits and debits above ₹500.00 and the end of a suspension.";
  await page.getByText(text).waitFor();
});
