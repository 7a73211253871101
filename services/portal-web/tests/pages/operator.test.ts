import { text } from "node:stream/consumers";
import { placeOrder } from "../support/api";
import {
  ask,
  type Business,
  logInAsOperator,
  newBusiness,
  openLive,
  type Session,
} from "../support/business";
import { check } from "../support/page-checks";
import { chooseOfAccount, heading, logInWithToken, openBusiness, row, rowsOf } from "../support/pages";
import { stack } from "../support/stack";
import { expect, screenshot, test } from "../support/test";

let owner: Session;
let business: Business;
let liveKey: string;
test.beforeAll(async ({ request }) => {
  business = await newBusiness({ request }, `Overseen ${Date.now()}`);
  liveKey = await openLive({ request }, business);
  owner = await request.storageState();
});

test("a wrong token is rejected, and the right one works until the log-out", async ({ page }) => {
  await page.goto("/operator/businesses");
  await heading(page, "Operator console");
  await page.getByRole("button", { name: "Log in with the installation token" }).click();
  // Named tokens open no session, so that the form does not ask for them.
  await expect(page.getByText("Tokens created in the console are for programs")).toBeVisible();
  await page.getByLabel("Installation token").fill(`${stack.operatorToken}x`);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  expect((await page.request.get("/v1/operator/businesses")).status()).toBe(401);
  await logInWithToken(page);
  await chooseOfAccount(page, "Log out");
  await heading(page, "Operator console");
  expect((await page.request.get("/v1/operator/businesses")).status()).toBe(401);
});

test("a business is found by a part of its name, its owner's e-mail, its id and its status", async ({
  page,
}) => {
  await logInAsOperator(page);
  // An unknown address shows a way back.
  await page.goto("/operator/nowhere/at-all");
  await heading(page, "Page not found");
  await page.getByRole("main").getByRole("link", { name: "Go to the businesses" }).click();
  await heading(page, "Businesses");
  const search = page.getByLabel("Find a business");
  for (const words of [business.name.slice(4).toLowerCase(), business.email, business.id]) {
    await search.fill(words);
    // The search applies after a pause in typing.
    await page.waitForURL((url) => url.searchParams.get("search") === words);
    await rowsOf(page, "Businesses", 1);
    await expect(row(page, "Businesses", business.name).getByText("Unlocked")).toBeVisible();
  }
  await page.getByLabel("Status", { exact: true }).selectOption({ label: "Suspended" });
  await expect(page.getByText("No matching businesses")).toBeVisible();
  await page.getByRole("button", { name: "Show all businesses" }).click();
  await page.waitForURL((url) => url.search === "");
  // Any business: other tests sign up more businesses than one page shows.
  await expect(page.getByRole("table", { name: "Businesses" }).getByRole("row").nth(1)).toBeVisible();
  await screenshot(page, "operator-businesses");
});

test("a plan that was requested meanwhile is shown before it becomes active", async ({ page, request }) => {
  const business = await newBusiness({ request }, `Asking ${Date.now()}`);
  await ask({ request }, "PUT", "/subscription", { plan: "starter" }, 200);
  await logInAsOperator(page);
  await openBusiness(page, business);
  const starter = page.getByRole("button", { name: "Activate Starter" });
  await expect(starter).toBeVisible();
  // Blocks the console's polling until the click.
  let looks = false;
  await page.route("**/v1/operator/businesses/*", (route) =>
    looks || route.request().method() !== "GET" ? route.continue() : undefined,
  );
  await ask({ request }, "PUT", "/subscription", { plan: "growth" }, 200);
  looks = true;
  await starter.click();
  await expect(page.getByText("The change failed")).toBeVisible();
  await page.getByRole("button", { name: "Activate Growth" }).click();
  const standing = page.getByRole("status", { name: "Subscription" });
  await expect(standing.getByText("Active", { exact: true })).toBeVisible();
  await expect(standing.getByText("Growth")).toBeVisible();
});

test("a suspended business cannot place live orders until the suspension is lifted", async ({ page }) => {
  await logInAsOperator(page);
  await openBusiness(page, business);
  const standing = page.getByRole("status", { name: "Business" });
  await page.getByRole("button", { name: "Suspend" }).click();
  const question = page.getByRole("dialog", { name: `Suspend ${business.name}?` });
  await question.getByLabel("Reason").fill("A cheque bounced");
  await question.getByRole("button", { name: "Suspend" }).click();
  await expect(standing.getByText("Suspended")).toBeVisible();
  await page.getByRole("tab", { name: "Audit log" }).click();
  await expect(
    row(page, "Audit log", "Business suspended").getByText("Reason: A cheque bounced"),
  ).toBeVisible();
  await expect(page.getByText("but no secrets and no postal addresses.")).toBeVisible();
  await screenshot(page, "operator-audit-words");
  await page.getByRole("tab", { name: "Status" }).click();
  await placeOrder(liveKey, "while-suspended", {}, 403);
  await page.getByRole("button", { name: "Lift suspension" }).click();
  const lift = page.getByRole("dialog", { name: `Lift the suspension of ${business.name}?` });
  await lift.getByRole("button", { name: "Lift suspension" }).click();
  await expect(standing.getByText("Active")).toBeVisible();
  await page.getByRole("tab", { name: "Audit log" }).click();
  await expect(row(page, "Audit log", "Suspension lifted")).toBeVisible();
  await placeOrder(liveKey, "after-the-suspension");
});

test("a failed change shows its error in its own dialog only", async ({ page }) => {
  await logInAsOperator(page);
  await openBusiness(page, business);
  await page.route(/\/v1\/operator\/businesses\/[^/]+$/, (route) =>
    route.request().method() === "PATCH"
      ? route.fulfill({ status: 409, json: { message: "Not now." } })
      : route.continue(),
  );
  await page.getByRole("button", { name: "Suspend" }).click();
  const question = page.getByRole("dialog");
  await question.getByRole("button", { name: "Suspend" }).click();
  await expect(question.getByText("Not now.")).toBeVisible();
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(question).toBeHidden();
  await expect(page.getByText("Not now.")).toHaveCount(0);
  await page.getByRole("button", { name: "Withdraw" }).click();
  await expect(page.getByRole("dialog", { name: "Withdraw live access?" })).toBeVisible();
  await expect(page.getByText("Not now.")).toHaveCount(0);
});

test("a wallet is credited once per reference, and its owner sees it", async ({ page, visit }) => {
  await logInAsOperator(page);
  await openBusiness(page, business);
  for (const outcome of ["₹1,000.00 credited.", "Nothing was credited. This reference was already used on"]) {
    await page.getByRole("button", { name: "Credit wallet" }).click();
    const dialog = page.getByRole("dialog", { name: `Credit ${business.name}` });
    await dialog.getByLabel("Amount", { exact: true }).fill("1,000");
    await dialog.getByLabel("Reference").fill("neft-0815");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await expect(dialog.getByText("one thousand rupees")).toBeVisible();
    await dialog.getByRole("button", { name: "Credit ₹1,000.00" }).click();
    await expect(dialog).toBeHidden();
    await expect(page.getByText(outcome)).toBeVisible();
  }
  await expect(page.getByRole("region", { name: "Wallet" }).first().getByText("₹1,451.00")).toBeVisible();
  // From the server: the list shows the newest entries alone.
  const entries = /\/businesses\/\w+\/wallet\/entries\?/;
  await page.route(entries, async (route) => {
    const list = await (await route.fetch()).json();
    return route.fulfill({ json: { ...list, hasMore: true } });
  });
  await page.getByLabel("Month", { exact: true }).selectOption({ index: 1 });
  await expect(page.getByText(/^Opening balance ₹0\.00, in .*, closing balance ₹1,451\.00\.$/)).toBeVisible();
  const seen = await visit({ storageState: owner });
  await seen.goto("/wallet?kind=operator_credit");
  await rowsOf(seen, "Statement", 1);
  await expect(row(seen, "Statement", "neft-0815").getByText("+₹1,000.00")).toBeVisible();
  await page.getByRole("tab", { name: "Audit log" }).click();
  const credited = row(page, "Audit log", "Wallet credited").first();
  await expect(credited.getByText("Delivery company, configuration")).toBeVisible();
  await expect(credited.getByText("₹1,000.00", { exact: true })).toBeVisible();
});

test("a wrong credit is typed twice, seen in words, and taken back", async ({ page }) => {
  await logInAsOperator(page);
  await openBusiness(page, business);
  await page.getByRole("button", { name: "Credit wallet" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount", { exact: true }).fill("2,00,000");
  await dialog.getByLabel("Reference").fill("cheque-7");
  await page.keyboard.press("Enter");
  await expect(dialog.getByText("two lakh rupees")).toBeVisible();
  // Not behind the dialog, where another adjustment could be opened.
  await expect(dialog.getByLabel("Type the amount again")).toBeFocused();
  await dialog.getByRole("button", { name: "Back" }).click();
  await expect(dialog.getByLabel("Amount", { exact: true })).toBeFocused();
  await dialog.getByRole("button", { name: "Continue" }).click();
  await expect(dialog.getByLabel("Type the amount again")).toBeFocused();
  const credit = dialog.getByRole("button", { name: "Credit ₹2,00,000.00" });
  await expect(credit).toBeDisabled();
  await dialog.getByLabel("Type the amount again").fill("20,000");
  await expect(credit).toBeDisabled();
  await dialog.getByLabel("Type the amount again").fill("200000");
  await check(page, "operator-credit-check", { bothSizes: true });
  await credit.click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("button", { name: "Credit wallet" })).toBeFocused();
  const entry = row(page, "Statement", "cheque-7");
  await entry.getByRole("button", { name: /^Take back entry/ }).click();
  await expect(page.getByRole("dialog", { name: `Take back from ${business.name}` })).toBeVisible();
  await dialog.getByLabel("Amount", { exact: true }).fill("2,00,000.01");
  await dialog.getByLabel("Reference").fill("cheque-7 bounced");
  await dialog.getByLabel("Reason").fill("The cheque bounced.");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await expect(dialog.getByText("Only ₹2,00,000.00 of this entry is left.")).toBeVisible();
  await dialog.getByLabel("Amount", { exact: true }).fill("1,99,999");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByLabel("Type the amount again").fill("199999");
  await dialog.getByRole("button", { name: "Take back ₹1,99,999.00" }).click();
  await expect(page.getByText("₹1,99,999.00 taken back.")).toBeVisible();
  const debit = row(page, "Statement", "cheque-7 bounced");
  await expect(debit.getByText("−₹1,99,999.00")).toBeVisible();
  await expect(debit.getByText("Takes back: Credit cheque-7 of")).toBeVisible();
  await expect(debit.getByText("Reason: The cheque bounced.")).toBeVisible();
  // What is left is offered, and then nothing.
  const part = row(page, "Statement", "₹1,99,999.00 taken back, ₹1.00 left");
  await part.getByRole("button", { name: /^Take back entry/ }).click();
  await expect(dialog.getByLabel("Amount", { exact: true })).toHaveValue("1.00");
  await check(page, "operator-take-back", { bothSizes: true });
  await dialog.getByLabel("Reference").fill("cheque-7 rest");
  await dialog.getByLabel("Reason").fill("The rest.");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByRole("button", { name: "Take back ₹1.00" }).click();
  const taken = row(page, "Statement", "Taken back in full");
  await expect(taken.getByText("cheque-7")).toBeVisible();
  await expect(taken.getByRole("button")).toHaveCount(0);
  await check(page, "operator-wallet", { bothSizes: true });
});

test("a take-back says what the balance does not cover, and only then", async ({ page }) => {
  await logInAsOperator(page);
  await page.route(/\/businesses\/\w+\/health$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      json: { ...(await response.json()), balancePaise: 4_000, owedPaise: 1_000 },
    });
  });
  await openBusiness(page, business);
  await expect(page.getByText("“Debit wallet” is for other corrections.")).toBeVisible();
  await expect(
    page.getByText("takes the money of one entry of the statement out of the wallet"),
  ).toBeVisible();
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Debit wallet" }).click();
  await expect(dialog.getByText("To correct a wrong credit, use “Take back”")).toBeVisible();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toBeHidden();
  await row(page, "Statement", "Top-up")
    .getByRole("button", { name: /^Take back entry/ })
    .click();
  await expect(dialog.getByText("This does not refund the payment at the payment provider.")).toBeVisible();
  const uncovered = dialog.getByText("not covered by the balance; the business then owes it.");
  await expect(uncovered).toContainText("₹460.00 of the amount is");
  await expect(dialog.getByText("The number of your correction")).toBeVisible();
  await dialog.getByLabel("Amount", { exact: true }).fill("40");
  await expect(uncovered).toHaveCount(0);
  await dialog.getByLabel("Reference").fill("note-9");
  await dialog.getByLabel("Reason").fill("Paid twice.");
  await dialog.getByRole("button", { name: "Continue" }).click();
  for (const fact of ["note-9", "Paid twice.", /^Top-up .* of /, "Owed now", "Balance afterwards"]) {
    await expect(dialog.getByText(fact)).toBeVisible();
  }
  await check(page, "operator-take-back-check", { bothSizes: true });
});

test("the statement of a business is filtered and downloaded, and its health has indicators and orders", async ({
  page,
}) => {
  await logInAsOperator(page);
  await openBusiness(page, business);
  await page.getByLabel("Kind").selectOption({ label: "Top-up" });
  await rowsOf(page, "Statement", 1);
  await check(page, "operator-statement", { bothSizes: true });
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^overseen-\d+-statement-to-/);
  const lines = (await text(await download.createReadStream())).trim().split(/\r?\n/);
  expect(lines).toHaveLength(2);
  await page.getByLabel("Kind").selectOption({ label: "Top-up taken back" });
  await expect(page.getByText("What you take back yourself is a debit.")).toBeVisible();

  await page.getByRole("tab", { name: "Health" }).click();
  await expect(page.getByRole("heading", { name: "Problems" })).toBeVisible();
  const indicators = page.getByRole("region", { name: "Indicators" });
  await expect(indicators.getByText("Live API Status")).toBeVisible();
  await expect(indicators.getByText("Not configured")).toBeVisible();
  await expect(page.getByRole("region", { name: "Orders" }).getByText("Test orders")).toBeVisible();
  await expect(page.getByText("Not placed yet")).toBeVisible();
  await screenshot(page, "operator-health");
});

test("the cash of a business is owed for what is not reported, with drivers, and with the operator", async ({
  page,
}) => {
  await logInAsOperator(page);
  const cash = {
    businessId: business.id,
    outstandingPaise: 1_114_330,
    pendingPaise: 656_700,
    withDriversPaise: 323_350,
    withOperatorPaise: 134_280,
    settledRecentlyPaise: 0,
    discrepancies: 0,
    ages: [{ days: "0-1", orders: 9, amountPaise: 1_114_330 }],
  };
  await page.route(/\/v1\/operator\/cod(\?|$)/, (route) =>
    route.fulfill({ json: { data: [cash], hasMore: false } }),
  );
  await page.goto("/operator/cash");
  const owed = row(page, "Cash owed to businesses", business.name);
  for (const amount of ["₹11,143.30", "₹6,567.00", "₹3,233.50", "₹1,342.80"]) {
    await expect(owed.getByText(amount)).toBeVisible();
  }
  await check(page, "operator-cash", { bothSizes: true });
});

test("any order is found by its id, tracking code or reference, with its timeline", async ({ page }) => {
  const reference = `wanted-${Date.now()}`;
  const order = await placeOrder(liveKey, reference);
  await logInAsOperator(page);
  await page.goto("/operator");
  await page.getByRole("link", { name: "Find an order" }).click();
  const search = page.getByRole("main").getByLabel("Find an order");
  const found = page.getByRole("article", { name: `Order ${reference} of ${business.name}` });
  for (const code of [order.id, order.trackingCode, reference]) {
    await search.fill(code);
    await search.press("Enter");
    await expect(found).toBeVisible();
    await search.fill(`${code}x`);
    await search.press("Enter");
    await expect(page.getByText("No order found")).toBeVisible();
  }
  await search.fill(reference);
  await search.press("Enter");
  await expect(
    found.getByRole("listitem").filter({ hasText: "Delivery fee charged" }).getByText("−₹49.00"),
  ).toBeVisible();
  await screenshot(page, "operator-order");
});
