// The operator refuses a sign-up with a reason, and the business asks again.
import { logInAsOperator, newBusiness } from "../support/business";
import { check } from "../support/page-checks";
import { heading } from "../support/pages";
import { expect, test } from "../support/test";

test("a refused sign-up reads why, and asks again", async ({ visit }) => {
  const [owner, staff] = [await visit(), await visit()];
  const { id, name } = await newBusiness(owner, "Refused shop");
  await logInAsOperator(staff);
  await staff.goto(`/operator/businesses/${id}`);
  await heading(staff, name);
  await staff.getByRole("button", { name: "Refuse" }).click();
  const dialog = staff.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("The GSTIN is missing.");
  await dialog.getByRole("button", { name: "Refuse" }).click();
  const row = staff.getByRole("status", { name: "Refusal" });
  await expect(row.getByText("The GSTIN is missing.")).toBeVisible();
  await staff.goto(`/operator/businesses?search=${id}`);
  await expect(staff.getByRole("row", { name: new RegExp(name) })).toContainText(", refused");
  await staff.goBack();
  await expect(row.getByText("The GSTIN is missing.")).toBeVisible();
  await check(staff, "business-refused", { bothSizes: true });

  await owner.goto("/");
  await expect(owner.getByText("Reason: The GSTIN is missing.")).toBeVisible();
  await check(owner, "refused", { bothSizes: true });
  await owner.getByLabel("What has changed since").fill("It is in our contact now.");
  await owner.getByRole("button", { name: "Ask again" }).click();
  await expect(owner.getByText("Asked again on")).toBeVisible();
  await expect(owner.getByText("Your message: It is in our contact now.")).toBeVisible();
  await staff.reload();
  await expect(row.getByText("Asked again")).toBeVisible();
  await expect(row.getByText("Their message: It is in our contact now.")).toBeVisible();
});
