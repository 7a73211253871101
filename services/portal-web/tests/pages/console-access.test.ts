// Pages of the console that a role does not have.
import { expect, test } from "vitest";
import { visit } from "../support/browser";
import { joinStaff, newBusiness } from "../support/business";
import { check } from "../support/page-checks";
import { heading, openBusiness } from "../support/pages";

test("a viewer of the console sees which pages the role does not have", async () => {
  const [owner, visitor] = [await visit(), await visit()];
  const { page } = visitor;
  const business = await newBusiness(owner, `Viewed ${Date.now()}`);
  await joinStaff(visitor, "Binu", "viewer");
  await page.goto("/operator");
  await heading(page, "Businesses");
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  await openBusiness(page, business);
  await page.getByText("The prepaid balance, from which delivery fees are paid.").waitFor();
  for (const path of ["staff", "tokens", "audit-log", "orders", "approvals", "approvals/apr_1"]) {
    await page.goto(`/operator/${path}`);
    await heading(page, "No access");
    await page.getByText("You are logged in as viewer.").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  }
  await check(page, "console-no-access", { bothSizes: true });
  expect(refused).toEqual([]);
});
