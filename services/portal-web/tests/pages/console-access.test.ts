// Pages of the console that a role does not have.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operator } from "../support/api";
import { openBrowser, PHONE, screenshot, visit } from "../support/browser";
import { newBusiness, PASSWORD, someone } from "../support/business";
import { overhang, seriousFindings, settled } from "../support/page-checks";
import { heading, logIn, openBusiness } from "../support/pages";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

test("a viewer of the console sees which pages the role does not have", async () => {
  const [owner, visitor] = [await visit(browser), await visit(browser)];
  const { page } = visitor;
  const business = await newBusiness(owner, `Viewed ${Date.now()}`);
  const { email } = someone("console-viewer");
  const invited = await operator("POST", "/staff", { email, name: "Binu", role: "viewer" }, 201);
  await page.goto(invited.url);
  await page.getByLabel("Choose a password").fill(PASSWORD);
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByRole("link", { name: "Log in" }).click();
  await logIn(page, email, PASSWORD);
  await heading(page, "Businesses");
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  await openBusiness(page, business.email, business.name);
  await page.getByText("The prepaid balance, from which delivery fees are paid.").waitFor();
  for (const path of ["staff", "tokens", "audit-log", "orders", "approvals", "approvals/apr_1"]) {
    await page.goto(`/operator/${path}`);
    await heading(page, "No access");
    await page.getByText("You are logged in as viewer.").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  }
  for (const viewport of [null, PHONE]) {
    if (viewport) await page.setViewportSize(viewport);
    await settled(page);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overhang(page)).toBe(0);
    await screenshot(page, `console-no-access${viewport ? "-phone" : ""}`);
  }
  expect(refused).toEqual([]);
  expect(owner.errors.concat(visitor.errors)).toEqual([]);
  await owner.context.close();
  await visitor.context.close();
});
