// The stack under test executes every call of the operator at once, so these tests answer the calls of approvals
// themselves. portal-api's tests check the real ones.

import type { Page } from "@playwright/test";
import { operator } from "../support/api";
import { type Business, logInAsOperator, newBusiness } from "../support/business";
import { check } from "../support/page-checks";
import { heading, openBusiness, row, takeSecret } from "../support/pages";
import { DESKTOP, expect, PHONE, test } from "../support/test";

let business: Business;
test.beforeAll(async ({ request }) => {
  business = await newBusiness({ request }, `Approved ${Date.now()}`);
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

test("a waiting request is counted, opened and approved", async ({ page }) => {
  const { sent } = await answerApprovals(page);
  await logInAsOperator(page);
  await page.setViewportSize(PHONE);
  await page.goto("/operator/businesses");
  const counted = page.getByRole("link", { name: "Approvals 1 waiting" });
  await expect(counted).toHaveCount(0);
  await page.getByRole("button", { name: "Navigation" }).click();
  await expect(counted).toBeVisible();
  await page.setViewportSize(DESKTOP);
  await counted.click();
  await heading(page, "Approvals");
  await check(page, "operator-approvals", { bothSizes: true });
  await page.getByRole("link", { name: "Credit ₹7,000.00" }).click();
  await heading(page, "Credit ₹7,000.00");
  for (const words of ["neft-0815", "asha@carrier.example", business.name]) {
    await expect(page.getByText(words).first()).toBeVisible();
  }
  await check(page, "operator-approval", { bothSizes: true });
  await page.getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog", { name: "Approve: Credit ₹7,000.00?" });
  await expect(dialog.getByText("seven thousand rupees")).toBeVisible();
  await dialog.getByLabel("Reason (optional)").fill("Seen on the statement.");
  await check(page, "operator-approve", { bothSizes: true });
  await dialog.getByRole("button", { name: "Approve" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText("Executed")).toBeVisible();
  await expect(page.getByRole("button", { name: "Approve" })).toHaveCount(0);
  expect(sent).toEqual(['approve {"reason":"Seen on the statement."}']);
});

test("a rejection needs a reason", async ({ page }) => {
  const { sent } = await answerApprovals(page);
  await logInAsOperator(page);
  await page.goto(`/operator/approvals/${CREDIT}`);
  await page.getByRole("button", { name: "Reject" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Reject" }).click();
  await expect(dialog.getByText("Enter a reason.")).toBeVisible();
  expect(sent).toEqual([]);
  await dialog.getByLabel("Reason").fill("No such transfer.");
  await dialog.getByRole("button", { name: "Reject" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText("Rejected", { exact: true })).toBeVisible();
  expect(sent).toEqual(['reject {"reason":"No such transfer."}']);
  await page.goto("/operator/approvals?state=rejected");
  await expect(row(page, "Approvals", "Credit ₹7,000.00").getByText("Rejected")).toBeVisible();
});

test("the requester fetches an approved link once", async ({ page }) => {
  const { change, sent } = await answerApprovals(page);
  await logInAsOperator(page);
  await page.goto(`/operator/approvals/${LINK}`);
  await heading(page, "Create reset link");
  await expect(page.getByText(business.email)).toBeVisible();
  await expect(page.getByRole("button", { name: "Approve" })).toHaveCount(0);
  change(LINK, { state: "approved" });
  await page.goto("/operator/approvals");
  await expect(
    row(page, "Approvals", "Create reset link").getByText("Approved: show the link once"),
  ).toBeVisible();
  await expect(page.getByRole("link", { name: "Approvals 2 waiting" })).toBeVisible();
  await page.getByRole("link", { name: "Create reset link" }).click();
  await page.getByRole("button", { name: "Show reset link" }).click();
  change(LINK, { state: "executed" });
  await page.getByRole("dialog").getByRole("button", { name: "Show link" }).click();
  expect(await takeSecret(page, "Reset link")).toContain("#token=x");
  expect(sent).toHaveLength(1);
  await expect(page.getByText("Executed")).toBeVisible();
  await expect(page.getByRole("button", { name: "Show reset link" })).toHaveCount(0);
});

test("calls that need a second person say that they were sent for approval", async ({ page }) => {
  await answerApprovals(page);
  await requireApprovals(page);
  await logInAsOperator(page);
  await openBusiness(page, business);
  const [credit] = approvals();
  await page.route(/\/v1\/operator\/businesses\/[^/]+(\/wallet\/credits|\/password-resets)?$/, (route) =>
    route.request().method() === "GET" ? route.continue() : route.fulfill({ status: 202, json: credit }),
  );
  const sent = page.getByText("Sent for approval. Another person must approve it.");
  await page.getByRole("button", { name: "Credit wallet" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount", { exact: true }).fill("7,000");
  await expect(
    dialog.getByText("A second person must approve credits and debits above ₹500.00."),
  ).toBeVisible();
  await dialog.getByLabel("Reference").fill("neft-0815");
  await dialog.getByRole("button", { name: "Continue" }).click();
  for (const words of ["This is sent for approval.", "neft-0815", "Balance now"]) {
    await expect(dialog.getByText(words)).toBeVisible();
  }
  await expect(dialog.getByText("Balance afterwards")).toHaveCount(0);
  await dialog.getByRole("button", { name: "Send for approval" }).click();
  await expect(dialog).toBeHidden();
  await expect(sent.first()).toBeVisible();
  await expect(page.getByRole("link", { name: "Open the request" }).first()).toHaveAttribute(
    "href",
    `/operator/approvals/${CREDIT}`,
  );
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(sent.nth(1)).toBeVisible();
  await page.getByRole("tab", { name: "Users" }).click();
  await page.getByRole("button", { name: `Create reset link for ${business.email}` }).click();
  await expect(sent.nth(2)).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("on a phone, the console's menu opens, reaches every page, and closes", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  await logInAsOperator(page);
  await page.goto("/operator/businesses");
  await heading(page, "Businesses");
  const menu = page.getByRole("button", { name: "Navigation" });
  const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
  await expect(links).toHaveCount(0);
  await menu.click();
  const names = await links.allTextContents();
  const pages = [
    "Overview",
    "Businesses",
    "Find an order",
    "Needs attention",
    "Cash",
    "Approvals",
    "Staff",
    "Tokens",
    "Audit log",
  ];
  expect(names).toEqual([...pages, "Exports", "Sessions"]);
  for (const link of await links.all()) {
    const box = await link.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= PHONE.width).toBe(true);
  }
  await check(page, "phone-operator-menu");
  await links.filter({ hasText: "Audit log" }).click();
  await heading(page, "Audit log");
  await expect(links.first()).toBeHidden();
  await expect(menu).toHaveAttribute("aria-expanded", "false");
});

test("the page of a business shows what waits about it", async ({ page }) => {
  const { change } = await answerApprovals(page);
  const { status } = await operator("PATCH", `/businesses/${business.id}`, { status: "suspended" });
  expect(status).toBe("suspended");
  await logInAsOperator(page);
  await page.goto(`/operator/businesses/${business.id}`);
  await heading(page, business.name);
  const waiting = page.getByRole("region", { name: "Waiting requests" });
  const credit = "Waiting for a second person: credit of ₹7,000.00, requested by asha@carrier.example.";
  await expect(waiting.getByText(credit)).toBeVisible();
  await expect(page.getByRole("button", { name: "Lift suspension" })).toBeVisible();
  change(LINK, { state: "approved" });
  change(CREDIT, { kind: "lift_suspension", parameters: { status: "active", suspension: 1 } });
  await page.reload();
  await expect(waiting.getByText("Approved: reset link for a user. Show the link once.")).toBeVisible();
  await check(page, "business-with-requests", { bothSizes: true });
  await page.getByRole("link", { name: "Lift requested: open" }).click();
  await heading(page, "Lift suspension");
  await operator("PATCH", `/businesses/${business.id}`, { status: "inactive" });
});

test("an empty list says which actions need an approval", async ({ page }) => {
  await requireApprovals(page);
  await page.route(/\/v1\/operator\/approvals/, (route) =>
    route.fulfill({ json: { data: [], hasMore: false } }),
  );
  await logInAsOperator(page);
  await page.goto("/operator/approvals");
  const text =
    "These actions need an approval: credits and debits above ₹500.00 and the end of a suspension.";
  await expect(page.getByText(text)).toBeVisible();
});

test("the limit of approvals is empty without one, needs a value, and is removed by two", async ({
  page,
}) => {
  const sent: string[] = [];
  const [credit] = approvals();
  await page.route(/\/v1\/operator\/approval-limit$/, (route) => {
    sent.push(route.request().postData() ?? "");
    return route.fulfill({ status: 202, json: { ...credit, kind: "raise_limit" } });
  });
  await logInAsOperator(page);
  await page.goto("/operator/approvals");
  await expect(page.getByText("Credits and debits need no second person.")).toBeVisible();
  await expect(page.getByText("While nobody else can decide, a request waits")).toBeVisible();
  const rule = "For 7 days after one person invites another, changes their role or resets their log-in";
  await expect(page.getByText(rule)).toBeVisible();
  await page.getByRole("button", { name: "Set a limit" }).click();
  const dialog = page.getByRole("dialog", { name: "Limit without a second person" });
  await expect(dialog.getByLabel("Limit", { exact: true })).toHaveValue("");
  await expect(dialog.getByText("Amounts above this need a second person.")).toBeVisible();
  await expect(dialog.getByText("There is no limit now.")).toBeVisible();
  await expect(dialog.getByText(rule)).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Remove limit" })).toHaveCount(0);
  await dialog.getByRole("button", { name: "Set a limit" }).click();
  await expect(dialog.getByText("Enter an amount in rupees")).toBeVisible();
  expect(sent).toEqual([]);
  await requireApprovals(page);
  await page.reload();
  await page.getByRole("button", { name: "Change limit" }).click();
  await expect(dialog.getByLabel("Limit", { exact: true })).toHaveValue("500.00");
  await check(page, "operator-approval-limit", { bothSizes: true });
  await dialog.getByRole("button", { name: "Remove limit" }).click();
  await expect(dialog.getByText("Without it, credits and debits need no second person.")).toBeVisible();
  expect(sent).toEqual([]);
  await dialog.getByRole("button", { name: "Back" }).click();
  await expect(dialog.getByLabel("Limit", { exact: true })).toHaveValue("500.00");
  await dialog.getByRole("button", { name: "Remove limit" }).click();
  await dialog.getByRole("button", { name: "Remove limit" }).click();
  await expect(page.getByText("Sent for approval.")).toBeVisible();
  expect(sent).toEqual(['{"creditsAbovePaise":null}']);
});

test("a higher limit is shown next to the limit in force", async ({ page }) => {
  const { change } = await answerApprovals(page);
  const parameters = { creditsAbovePaise: 5_000_000 };
  change(CREDIT, { kind: "raise_limit", parameters, businessId: null, businessName: null });
  await requireApprovals(page);
  await logInAsOperator(page);
  await page.goto("/operator/approvals");
  await page.getByRole("link", { name: "Raise the limit of approvals to ₹50,000.00" }).click();
  for (const words of ["credits and debits above ₹500.00", "credits and debits above ₹50,000.00"]) {
    await expect(page.getByText(words)).toBeVisible();
  }
  await expect(page.getByText("Business", { exact: true })).toHaveCount(0);
  await check(page, "operator-approval-of-limit", { bothSizes: true });
  change(CREDIT, { state: "executed", mayDecide: false });
  await page.reload();
  await expect(page.getByText("Asked for", { exact: true })).toBeVisible();
  await expect(page.getByText("credits and debits above ₹50,000.00")).toBeVisible();
  await expect(page.getByText("Limit now")).toHaveCount(0);
  change(CREDIT, { parameters: { creditsAbovePaise: null } });
  await page.reload();
  await expect(page.getByText("Removal of the limit")).toBeVisible();
});

test("the log tells the old and the new limit, and what was requested", async ({ page }) => {
  const entry = (id: string, action: string, details: object) => ({
    id: `aud_01ARZ3NDEKTSV4RRFFQ69G5FA${id}`,
    at: new Date().toISOString(),
    action,
    actor: { type: "person", id: "stf_01ARZ3NDEKTSV4RRFFQ69G5FAV", name: "asha@carrier.example" },
    details,
  });
  const data = [
    entry("V", "approval.limit_changed", { fromPaise: null, toPaise: 50_000 }),
    entry("W", "approval.requested", { kind: "raise_limit", toPaise: 5_000_000 }),
    entry("X", "approval.approved", { kind: "raise_limit", toPaise: null }),
  ];
  await page.route(/\/v1\/operator\/audit-log\?/, (route) =>
    route.fulfill({ json: { data, hasMore: false } }),
  );
  await logInAsOperator(page);
  await page.goto("/operator/audit-log");
  for (const [title, line] of [
    ["Limit of approvals changed", "From no limit to ₹500.00"],
    ["Approval requested", "Higher limit: ₹50,000.00"],
    ["Request approved", "Removal of the limit"],
  ] as const) {
    await expect(row(page, "Audit log", title).getByText(line, { exact: true })).toBeVisible();
  }
});
