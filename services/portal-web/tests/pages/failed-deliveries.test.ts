import { reattemptDays } from "../../src/format/failure-labels";
import { operator, placeOrder, report } from "../support/api";
import { newBusiness, openLive } from "../support/business";
import { check } from "../support/page-checks";
import { fact, row } from "../support/pages";
import { expect, test } from "../support/test";

const TO_THE_DOOR = ["driver.assigned", "order.picked_up", "order.out_for_delivery"];

/** A live order whose delivery failed at the door. */
async function failedOrder(key: string, reference: string) {
  const order = await placeOrder(key, reference);
  for (const event of TO_THE_DOOR) await report(order.id, event);
  await report(order.id, "order.failed", { reason: "nobody at home", reasonCode: "customer_unreachable" });
  return order;
}

test("a failed delivery is attempted again, with a note and a corrected phone", async ({ page }) => {
  const key = await openLive(page, await newBusiness(page, "Second try"));
  const order = await failedOrder(key, "again-1");
  await page.goto(`/orders/${order.id}`);
  const failure = page.getByRole("alert").filter({ hasText: "Delivery failed" });
  await expect(failure.getByText("Customer not reached: Nobody at home")).toBeVisible();
  await check(page, "order-failed", { bothSizes: true });

  await page.getByRole("button", { name: "Correct address" }).click();
  const correction = page.getByRole("dialog", { name: "Correct the phone or address" });
  await correction.getByLabel("PIN code").fill("12");
  await correction.getByLabel("Phone").fill("9800000009");
  await correction.getByRole("button", { name: "Save" }).click();
  await expect(correction.getByText("PIN code must be")).toBeVisible();
  await expect(correction.getByText("If the number is Indian, enter +919800000009.")).toBeVisible();
  await correction.getByLabel("PIN code").fill("560025");
  await correction.getByLabel("Phone").fill("+919800000009");
  await correction.getByRole("button", { name: "Save" }).click();
  await expect(correction).toBeHidden();
  await expect(page.getByRole("link", { name: "+919800000009" })).toBeVisible();
  const entry = page.getByRole("list", { name: "Timeline" }).getByRole("listitem").last();
  await expect(entry.getByText("Corrected: phone, PIN code")).toBeVisible();
  await expect(entry.getByText("In the portal. Its audit log names the person.")).toBeVisible();

  await failure.getByRole("button", { name: "Attempt again" }).click();
  const question = page.getByRole("dialog", { name: "Attempt this delivery again?" });
  await expect(question.getByText("It costs no second fee.")).toBeVisible();
  await question.getByLabel("Day").fill("2020-01-31");
  await question.getByRole("button", { name: "Request attempt" }).click();
  await expect(question.getByRole("alert").getByText(/^Choose a day from \d/)).toBeVisible();
  await question.getByLabel("Day").fill("");
  await question.getByLabel("Note for the driver").fill("Ring at the gate");
  await check(page, "order-reattempt", { bothSizes: true });
  await question.getByRole("button", { name: "Request attempt" }).click();
  await expect(
    failure.getByText("Attempt 2 is requested as soon as possible: Ring at the gate"),
  ).toBeVisible();
  await expect(failure.getByText(/^Requested .+ by a person in the portal\.$/)).toBeVisible();

  await report(order.id, "driver.assigned", { eventId: `${order.id}-again` });
  await expect(page.getByRole("status", { name: "Status" }).getByText("Driver assigned")).toBeVisible();
  await expect(page.getByRole("button", { name: "Cancel order" })).toHaveCount(0);
  // The reason is of the former attempt. The request stays visible.
  await expect(page.getByRole("region", { name: "Outcome" })).not.toContainText("Nobody at home");
  await expect(fact(page.getByRole("region", { name: "Delivery" }), "Attempt 2")).toHaveText(
    /^Asked for .+ by a person in the portal, as soon as possible: Ring at the gate$/,
  );
});

test("the fee of another attempt is named before somebody asks for it", async ({ page }) => {
  const key = await openLive(page, await newBusiness(page, "Second fee"));
  const order = await failedOrder(key, "fee-1");
  // The operator of the local stack takes none.
  await page.route(`**/v1/portal/orders/${order.id}`, async (route) => {
    const shown = await (await route.fetch()).json();
    return route.fulfill({ json: { ...shown, reattemptFeePaise: 3_000 } });
  });
  await page.goto(`/orders/${order.id}`);
  await page.getByRole("button", { name: "Attempt again" }).click();
  const question = page.getByRole("dialog", { name: "Attempt this delivery again?" });
  await expect(
    question.getByText("When the attempt begins, its fee of ₹30.00 is taken from the wallet."),
  ).toBeVisible();
  await check(page, "order-reattempt-fee", { bothSizes: true });
});

test("a fee that was taken stays taken, and is not announced again", async ({ page }) => {
  const key = await openLive(page, await newBusiness(page, "Paid attempt"));
  const order = await failedOrder(key, "paid-1");
  // The driver of an attempt with a fee dropped out.
  await page.route(`**/v1/portal/orders/${order.id}`, async (route) => {
    const shown = await (await route.fetch()).json();
    return route.fulfill({ json: { ...shown, reattemptFeesPaise: 3_000 } });
  });
  await page.goto(`/orders/${order.id}`);
  await expect(page.getByText("Attempts that began cost ₹30.00. It is not refunded.")).toBeVisible();
  const money = page.getByRole("region", { name: "Money" });
  // Some of it may be owed: it is not “charged”.
  await expect(fact(money, "Charged to wallet")).toHaveCount(0);
  await expect(fact(money, "Fees")).toHaveText("₹79.00");
  await expect(fact(money, "Of it, for further attempts")).toHaveText("₹30.00");
  await page.getByRole("button", { name: "Attempt again" }).click();
  const question = page.getByRole("dialog", { name: "Attempt this delivery again?" });
  await expect(question.getByText("It takes no further fee.")).toBeVisible();
  await check(page, "order-paid-attempt", { bothSizes: true });

  await test.step("the postings name what was taken, and what is owed", async () => {
    await page.route(`**/v1/portal/orders/${order.id}/events?*`, async (route) => {
      const timeline = await (await route.fetch()).json();
      const recordedAt = new Date().toISOString();
      const posting = { type: "money", balanceAfterPaise: 0, recordedAt };
      timeline.data.push(
        { ...posting, id: "trf_1", kind: "operator_debit", amountPaise: -1_000, owedPaise: 0 },
        { ...posting, id: "trf_2", kind: "operator_debit_shortfall", amountPaise: 0, owedPaise: 2_000 },
      );
      return route.fulfill({ json: timeline });
    });
    await page.goto(`/orders/${order.id}?tab=developers`);
    const postings = page.getByRole("list", { name: "Wallet postings" }).getByRole("listitem");
    const taken = postings.filter({ hasText: "Fee of another attempt charged" });
    await expect(taken.getByText("−₹10.00")).toBeVisible();
    const owed = postings.filter({ hasText: "Fee of another attempt, owed" });
    await expect(owed.getByText("₹20.00 owed")).toBeVisible();
    await page.getByRole("tab", { name: "Delivery" }).click();
    await expect(fact(money, "Of it, added to the debt")).toHaveText("₹20.00");
  });
});

test("late cash needs attention too", async ({ page }) => {
  await openLive(page, await newBusiness(page, "Late cash"));
  // The local stack has no cash of last week.
  await page.route("**/v1/portal/cod?*late=true*", async (route) => {
    const cash = await (await route.fetch()).json();
    const totals = { ...cash.totals, lateOrders: 3, latePaise: 375_150 };
    return route.fulfill({ json: { ...cash, totals } });
  });
  await page.goto("/exceptions");
  await expect(page.getByText("₹3,751.50 of 3 orders is past its promised day.")).toBeVisible();
  await check(page, "exceptions-late-cash", { bothSizes: true });
  await page.getByRole("link", { name: "Show the orders" }).click();
  await expect(page.getByLabel("Only late")).toBeChecked();
});

test("failed deliveries are decided about together, after a preview", async ({ page }) => {
  const key = await openLive(page, await newBusiness(page, "Many failures"));
  const orders = [await failedOrder(key, "many-1"), await failedOrder(key, "many-2")];
  const [worn] = orders;
  for (const attempt of [2, 3]) {
    const eventId = (event: string) => ({ eventId: `${worn?.id}-${event}-${attempt}` });
    await report(worn?.id ?? "", "driver.assigned", eventId("assigned"));
    await report(worn?.id ?? "", "order.failed", { ...eventId("failed"), reason: "nobody at home" });
  }
  await page.goto(`/orders/${worn?.id}`);
  await expect(page.getByText("Another attempt is not possible: it had all of its attempts.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Attempt again" })).toHaveCount(0);
  await page.goto("/exceptions");
  await expect(row(page, "Failed", "many-1").getByText("3 failed attempts")).toBeVisible();
  await expect(row(page, "Failed", "many-2").getByText("Customer not reached: Nobody at home")).toBeVisible();
  await expect(page.getByText("Failed (2)")).toBeVisible();
  await page.getByLabel("Select all").check();
  await check(page, "exceptions", { bothSizes: true });
  await page.getByRole("button", { name: "Attempt again" }).click();
  const dialog = page.getByRole("dialog", { name: "Attempt again" });
  await expect(dialog.getByText("Requests another attempt of 1 order.")).toBeVisible();
  await expect(dialog.getByText("many-1: It had all of its 3 attempts.")).toBeVisible();
  await check(page, "exceptions-preview", { bothSizes: true });
  await dialog.getByRole("button", { name: "Request for 1" }).click();
  await expect(dialog.getByText("1 of 1 requested.")).toBeVisible();
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(row(page, "Failed", "many-2")).toHaveCount(0);

  await page.getByLabel("Select many-1").check();
  await page.getByRole("button", { name: "Request return" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Request for 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
  await expect(page.getByText("No failed delivery waits for your decision.")).toBeVisible();
  await page.getByLabel("Decision").selectOption({ label: "Decided and not begun" });
  await expect(row(page, "Failed", "many-1").getByText("Not returned yet")).toBeVisible();
  await expect(page.getByText(/^Failed \(/)).toHaveCount(0);
  await expect(row(page, "Failed", "many-2").getByText("Attempt 2 has not begun")).toBeVisible();
  await check(page, "exceptions-pending", { bothSizes: true });
  await page.getByLabel("Select all").check();
  await page.getByRole("button", { name: "Request return" }).click();
  await expect(page.getByRole("dialog").getByText("1 of them has a request already: it is")).toBeVisible();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.goto("/orders?mode=live");
  await expect(row(page, "Live orders", "many-1").getByText("Returning")).toBeVisible();
  await expect(row(page, "Live orders", "many-2").getByText("Another attempt soon")).toBeVisible();
});

test("orders without a driver are cancelled together, after a preview", async ({ page }) => {
  const key = await openLive(page, await newBusiness(page, "No drivers"));
  await placeOrder(key, "alone-1");
  const taken = await placeOrder(key, "alone-2");
  // A test does not wait for half an hour: the list has the orders at once.
  await page.route("**/v1/portal/exceptions?*kind=unassigned*", async (route) => {
    const listed = await (await route.fetch()).json();
    const url = new URL("/v1/portal/orders?mode=live&status=created", route.request().url()).href;
    const { data } = await (await route.fetch({ url })).json();
    return route.fulfill({ json: { ...listed, data } });
  });
  await page.goto("/exceptions?kind=unassigned");
  await page.getByLabel("Select all").check();
  await page.getByRole("button", { name: "Cancel orders" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel orders" });
  await expect(dialog.getByText("Cancels 2 orders. The delivery fees, ₹98.00 in all,")).toBeVisible();
  await dialog.getByLabel("Reason").fill("no driver came");
  await check(page, "exceptions-cancel", { bothSizes: true });
  await report(taken.id, "driver.assigned");
  await report(taken.id, "order.picked_up");
  await dialog.getByRole("button", { name: "Cancel 2 orders" }).click();
  await expect(dialog.getByText("1 of 2 cancelled.")).toBeVisible();
  await expect(
    dialog.getByText("alone-2: The order can no longer be cancelled: it is picked_up."),
  ).toBeVisible();
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(row(page, "No driver", "alone-1")).toHaveCount(0);
  await page.goto("/orders?mode=live");
  await expect(row(page, "Live orders", "alone-1").getByText("Cancelled")).toBeVisible();
});

test("a decision that came during the preview is not replaced", async ({ page }) => {
  const business = await newBusiness(page, "Seen before");
  const key = await openLive(page, business);
  const order = await failedOrder(key, "seen-1");
  await page.goto("/exceptions");
  await page.getByLabel("Select seen-1").check();
  await page.getByRole("button", { name: "Attempt again" }).click();
  const dialog = page.getByRole("dialog", { name: "Attempt again" });
  await expect(dialog.getByText("Requests another attempt of 1 order.")).toBeVisible();
  await operator("POST", `/businesses/${business.id}/orders/${order.id}/return`, {});
  await dialog.getByRole("button", { name: "Request for 1" }).click();
  await expect(dialog.getByText("0 of 1 requested.")).toBeVisible();
  await expect(dialog.getByText("seen-1: Changed since you looked: the return is requested.")).toBeVisible();
});

test("a decision that came while the dialog was open is not replaced", async ({ page }) => {
  const business = await newBusiness(page, "Seen on the page");
  const key = await openLive(page, business);
  const order = await failedOrder(key, "seen-2");
  const decide = `/businesses/${business.id}/orders/${order.id}`;
  await page.goto(`/orders/${order.id}`);
  await page.getByRole("button", { name: "Attempt again" }).click();
  const question = page.getByRole("dialog", { name: "Attempt this delivery again?" });
  await operator("POST", `${decide}/return`, {});
  await question.getByRole("button", { name: "Request attempt" }).click();
  await expect(question.getByText("Changed since you looked: the return is requested.")).toBeVisible();
  await expect(page.getByText(/^The return was requested .+ by the operator\.$/)).toBeVisible();
  // The order that is shown behind the dialog now is not the one that it was opened with.
  await expect(question.getByRole("button", { name: "Request attempt" })).toHaveCount(0);
  await question.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("button", { name: "Attempt again" }).click();
  await question.getByRole("button", { name: "Request attempt" }).click();
  await expect(page.getByText("Attempt 2 is requested as soon as possible.")).toBeVisible();

  await page.getByRole("button", { name: "Request return" }).click();
  const back = page.getByRole("dialog", { name: "Request the return of this parcel?" });
  await operator("POST", `${decide}/reattempt`, { note: "Ring twice" });
  await back.getByRole("button", { name: "Request return" }).click();
  await expect(back.getByText("Changed since you looked: another attempt is requested.")).toBeVisible();
  await expect(page.getByText("Attempt 2 is requested as soon as possible: Ring twice")).toBeVisible();
});

test("the change of an attempt begins with its day and its note", async ({ page }) => {
  const business = await newBusiness(page, "Changed attempt");
  const key = await openLive(page, business);
  const order = await failedOrder(key, "change-1");
  const { last: date } = reattemptDays(new Date());
  const reattempt = `/businesses/${business.id}/orders/${order.id}/reattempt`;
  await operator("POST", reattempt, { date, note: "Ring twice" });
  await page.goto(`/orders/${order.id}`);
  await page.getByRole("button", { name: "Change the attempt" }).click();
  const dialog = page.getByRole("dialog", { name: "Change the attempt" });
  await expect(dialog.getByLabel("Day")).toHaveValue(date);
  await expect(dialog.getByLabel("Note for the driver")).toHaveValue("Ring twice");
  await dialog.getByLabel("Note for the driver").fill("Call first");
  await dialog.getByRole("button", { name: "Change attempt" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText(/^Attempt 2 is requested for .+: Call first$/)).toBeVisible();

  // The operator of the local stack takes no fee.
  await page.route(`**/v1/portal/orders/${order.id}`, async (route) => {
    const shown = await (await route.fetch()).json();
    return route.fulfill({ json: { ...shown, reattempt: { ...shown.reattempt, feePaise: 3_000 } } });
  });
  await page.reload();
  await page.getByRole("button", { name: "Request return" }).click();
  const back = page.getByRole("dialog", { name: "Request the return of this parcel?" });
  await expect(
    back.getByText("The requested attempt 2 is dropped, and its fee of ₹30.00 is not taken."),
  ).toBeVisible();
});
