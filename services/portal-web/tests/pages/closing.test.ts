// Closing a business: what its owner sees and begins, and how the operator completes it.
import { operator } from "../support/api";
import { ask, logInAsOperator, newBusiness, newTestKey } from "../support/business";
import { check } from "../support/page-checks";
import { heading } from "../support/pages";
import { expect, PHONE, test } from "../support/test";

test("an owner begins to close the business, and the operator pays out the balance and completes it", async ({
  visit,
}) => {
  const [owner, staff] = [await visit({ viewport: PHONE }), await visit()];
  const { id, name } = await newBusiness(owner, "Closing shop");
  await newTestKey(owner);
  await operator(
    "POST",
    `/businesses/${id}/wallet/credits`,
    { amountPaise: 12_300, reference: "opening" },
    201,
  );

  await owner.goto("/account/closing");
  await heading(owner, "Account");
  const open = owner.getByRole("region", { name: "What is open" });
  await expect(open.getByText("₹123.00")).toBeVisible();
  await check(owner, "closing-not-begun", { bothSizes: true });
  await owner.getByRole("textbox", { name: "Reason" }).fill("We move to Pune.");
  await owner.getByRole("button", { name: "Close business" }).click();
  await owner.getByRole("button", { name: "Begin closing" }).click();
  await expect(owner.getByText("This business is being closed")).toBeVisible();
  const refused = await ask(owner, "POST", "/api-keys", { mode: "test", name: "late" }, 409);
  expect(refused.code).toBe("business_closing");
  await owner.goto("/");
  const list = owner.getByRole("list", { name: "Go-live checklist" });
  await expect(list.getByText("Wallet is funded")).toBeVisible();
  await expect(list.getByRole("link")).toHaveCount(0);
  await owner.goto("/wallet");
  await expect(owner.getByText(/Live orders are refused: the closing/)).toBeVisible();
  const notice = owner.getByRole("region", { name: "Your business is being closed" });
  await notice.getByRole("link", { name: "Open its closing" }).click();
  await heading(owner, "Account");

  await logInAsOperator(staff);
  await staff.goto(`/operator/businesses?search=${id}`);
  const row = staff.getByRole("row", { name: new RegExp(name) });
  await expect(row.getByText("Closing", { exact: true })).toBeVisible();
  await staff.goto(`/operator/businesses/${id}?tab=status`);
  await heading(staff, name);
  await expect(staff.getByRole("status", { name: "Business", exact: true })).toHaveText("Closing");
  await expect(staff.getByRole("button", { name: /Grant live access|Refuse/ })).toHaveCount(0);
  await staff.goto(`/operator/businesses/${id}?tab=closing`);
  await heading(staff, name);
  await expect(staff.getByText("Reason: We move to Pune.")).toBeVisible();
  const complete = staff.getByRole("button", { name: "Complete closing" });
  await expect(complete).toBeDisabled();
  await check(staff, "closing-of-operator", { bothSizes: true });
  await staff.getByRole("button", { name: "Record payout" }).click();
  await expect(staff.getByRole("textbox", { name: "Amount" })).toHaveValue("123.00");
  await staff.keyboard.press("Escape");
  await operator(
    "POST",
    `/businesses/${id}/wallet/debits`,
    {
      amountPaise: 12_300,
      reference: "UTR 1",
      reason: "Balance paid out by bank transfer.",
    },
    201,
  );
  await staff.reload();
  await complete.click();
  await staff.getByRole("dialog").getByRole("button", { name: "Complete closing" }).click();
  await expect(staff.getByText("This business is closed")).toBeVisible();
  await staff.reload();
  await expect(staff.getByRole("main").getByText("Closed", { exact: true })).toBeVisible();
  await staff.getByRole("tab", { name: "Status" }).click();
  await expect(staff.getByRole("status", { name: "Business", exact: true })).toHaveText("Closed");
  await expect(staff.getByRole("button", { name: /Grant live access|Refuse/ })).toHaveCount(0);
  await staff.goto(`/operator/businesses?status=closed&search=${id}`);
  await expect(staff.getByRole("row", { name: new RegExp(name) })).toContainText("Closed");
  await check(staff, "closed-in-list", { bothSizes: true });

  await owner.reload();
  await expect(owner.getByText("This business is closed")).toBeVisible();
  await expect(open.getByText(/[1-9]/)).toHaveCount(0);
  await check(owner, "closing-completed");
  for (const [path, title] of [
    ["/", "Overview"],
    ["/wallet", "Wallet"],
  ] as const) {
    await owner.goto(path);
    await heading(owner, title);
    await expect(owner.getByRole("region", { name: "Your business is closed" })).toBeVisible();
    await expect(owner.getByRole("button", { name: "Top up" })).toHaveCount(0);
  }
});

test("an owner withdraws the closing, but not one of the operator", async ({ visit }) => {
  const owner = await visit();
  const { id } = await newBusiness(owner, "Staying shop");
  await ask(owner, "POST", "/business/closing", {}, 204);
  await owner.goto("/account/closing");
  await owner.getByRole("button", { name: "Withdraw closing" }).click();
  await owner.getByRole("dialog").getByRole("button", { name: "Withdraw closing" }).click();
  await expect(owner.getByRole("button", { name: "Close business" })).toBeVisible();
  await operator("POST", `/businesses/${id}/closing`, { reason: "Contract ended" }, 204);
  await owner.reload();
  await expect(owner.getByText(/Ask it to withdraw this/)).toBeVisible();
  await expect(owner.getByRole("button", { name: "Withdraw closing" })).toHaveCount(0);
});

test("nobody withdraws a closing whose completion has begun", async ({ visit }) => {
  const [owner, staff] = [await visit(), await visit()];
  const { id, name } = await newBusiness(owner, "Ending shop");
  await ask(owner, "POST", "/business/closing", {}, 204);
  // A completion is too fast for a page.
  for (const page of [owner, staff]) {
    await page.route("**/v1/**/closing", async (route) => {
      const closing = await (await route.fetch()).json();
      return route.fulfill({ json: { ...closing, endingAt: closing.begunAt } });
    });
  }
  await owner.goto("/account/closing");
  await logInAsOperator(staff);
  await staff.goto(`/operator/businesses/${id}?tab=closing`);
  await heading(staff, name);
  for (const page of [owner, staff]) {
    await expect(page.getByText(/can no longer be withdrawn/)).toBeVisible();
    await expect(page.getByRole("button", { name: /Withdraw closing|Take over/ })).toHaveCount(0);
  }
  await expect(staff.getByRole("button", { name: "Complete closing" })).toBeEnabled();
});
