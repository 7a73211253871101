// Pages of the console that a role does not have.
import { joinStaff, newBusiness } from "../support/business";
import { check } from "../support/page-checks";
import { follow, goTo, heading, openBusiness } from "../support/pages";
import { expect, test } from "../support/test";

test("a viewer of the console sees which pages the role does not have", async ({ page, request }) => {
  const business = await newBusiness({ request }, `Viewed ${Date.now()}`);
  await joinStaff(page, "Binu", "viewer");
  await page.goto("/operator");
  await heading(page, "Overview");
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  await openBusiness(page, business);
  await expect(page.getByText("The prepaid balance, from which delivery fees are paid.")).toBeVisible();
  for (const path of ["staff", "tokens", "audit-log", "orders", "approvals", "approvals/apr_1"]) {
    await goTo(page, "Businesses");
    await follow(page, `/operator/${path}`);
    await heading(page, "No access");
    await expect(page.getByText("You are logged in as viewer.")).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
  }
  await check(page, "console-no-access", { bothSizes: true });
  expect(refused).toEqual([]);
});
