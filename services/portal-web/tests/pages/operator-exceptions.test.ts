// What the staff does about orders that do not move on, of any business.
import { operator, placeOrder, report } from "../support/api";
import { logInAsOperator, newBusiness, openLive } from "../support/business";
import { check } from "../support/page-checks";
import { heading, row, tallestRow } from "../support/pages";
import { DESKTOP, expect, PHONE, test } from "../support/test";

test("the staff finds a failed delivery of any business, reads its evidence and asks for its return", async ({
  page,
}) => {
  const business = await newBusiness(page, `Troubled ${Date.now()}`);
  const key = await openLive(page, business);
  const reference = `stuck-${Date.now()}`;
  const payment = { paymentType: "cod", deliveryFeePaise: 4_900, codAmountPaise: 125_050 };
  const order = await placeOrder(key, reference, { payment });
  const driver = { name: "Ravi Kumar", phone: "+919800000077", vehicle: "Bike" };
  await report(order.id, "driver.assigned", { driver });
  await report(order.id, "order.picked_up");
  await report(order.id, "order.failed", { reason: "nobody at home", reasonCode: "customer_unreachable" });

  await logInAsOperator(page);
  await page.goto("/operator/overview");
  await page.getByRole("region", { name: "Totals" }).getByRole("link", { name: "Needs attention" }).click();
  await heading(page, "Needs attention");
  // Other tests have failed deliveries too.
  await page.goto(`/operator/exceptions?businessId=${business.id}`);
  const failed = row(page, "Failed", reference);
  await expect(failed.getByText("Customer not reached: Nobody at home")).toBeVisible();
  await expect(failed.getByRole("link", { name: business.name })).toBeVisible();
  await page.getByLabel("Decision").selectOption({ label: "Decided and late" });
  await expect(page.getByText("No attempt or return that was asked for is late.")).toBeVisible();
  await page.getByLabel("Decision").selectOption("none");
  await expect(failed).toBeVisible();
  await expect(page).toHaveURL(/decision=none/);
  await expect(failed.getByText("Ravi Kumar")).toBeVisible();
  await expect(failed.getByRole("link", { name: driver.phone })).toHaveAttribute(
    "href",
    `tel:${driver.phone}`,
  );
  const area = page.getByLabel("City or PIN code");
  await area.fill("5601");
  await area.press("Enter");
  await expect(page.getByText("No such order goes to this city or PIN code.")).toBeVisible();
  await area.fill("bengal");
  await area.press("Enter");
  await expect(failed).toBeVisible();
  await expect(page).toHaveURL(/area=bengal/);
  // On a phone too, the customer can be called.
  await page.setViewportSize(PHONE);
  const card = page.getByRole("list", { name: "Failed" }).getByRole("listitem");
  await expect(card.getByText("Asha Rao")).toBeVisible();
  await expect(card.getByRole("link", { name: "+919800000001" })).toBeVisible();
  expect(await tallestRow(page, "Failed")).toBeLessThanOrEqual(80);
  await page.setViewportSize(DESKTOP);
  await check(page, "operator-exceptions", { bothSizes: true });

  await failed.getByRole("link", { name: reference }).click();
  const found = page.getByRole("article", { name: `Order ${reference} of ${business.name}` });
  await expect(found.getByRole("article", { name: "Attempt 1" }).getByText("Nobody at home")).toBeVisible();
  await expect(found.getByText("Cash not collected")).toBeVisible();
  await expect(found.getByText("Failed attempts")).toBeVisible();
  await check(page, "operator-order-failed", { bothSizes: true });

  const itsPage = page.url();
  await page.goBack();
  await page.getByLabel(`Select ${reference}`).check();
  await page.getByRole("button", { name: "Request return" }).click();
  const dialog = page.getByRole("dialog", { name: "Request return" });
  await dialog.getByRole("button", { name: "Request for 1" }).click();
  await expect(dialog.getByText("1 of 1 requested.")).toBeVisible();
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText("No such order goes to this city or PIN code.")).toBeVisible();
  await area.fill("");
  await area.press("Enter");
  await expect(page.getByText("No failed delivery waits for a decision.")).toBeVisible();
  await page.getByLabel("Decision").selectOption({ label: "Decided and not begun" });
  await expect(failed.getByText("Not returned yet")).toBeVisible();

  // A decision that comes while the dialog is open is not replaced.
  await page.goto(itsPage);
  await found.getByRole("button", { name: "Attempt again" }).click();
  const question = page.getByRole("dialog", { name: "Attempt this delivery again?" });
  const reattempt = `/businesses/${business.id}/orders/${order.id}/reattempt`;
  await operator("POST", reattempt, { note: "Ring twice" });
  await question.getByRole("button", { name: "Request attempt" }).click();
  await expect(question.getByText("Changed since you looked: another attempt is requested.")).toBeVisible();
  await expect(page.getByText("Attempt 2 is requested as soon as possible: Ring twice")).toBeVisible();
});
