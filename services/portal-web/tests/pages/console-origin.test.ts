// The operator's console at an origin of its own.
import { expect, test } from "vitest";
import { screenshot, visit } from "../support/browser";
import { newBusiness } from "../support/business";
import { heading, logInWithToken, openBusiness } from "../support/pages";
import { stack } from "../support/stack";

test("an operator logs in at the console's origin, which has no pages for businesses", async () => {
  const [owner, operator] = [await visit(), await visit({ baseURL: stack.console })];
  const business = await newBusiness(owner, `Far away ${Date.now()}`);
  const { page } = operator;
  await page.goto("/");
  await heading(page, "Operator console");
  expect(page.url()).toBe(`${stack.console}/operator`);
  const redirected = await operator.context.request.get("/", { maxRedirects: 0 });
  expect([redirected.status(), redirected.headers().location]).toEqual([302, "/operator"]);
  const portal = page.getByRole("link", { name: "Go to the portal" });
  expect(await portal.getAttribute("href")).toBe(`${stack.portal}/log-in`);
  await logInWithToken(page);
  await openBusiness(page, business);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("status", { name: "Business" }).getByText("Active").waitFor();
  for (const path of ["/log-in", "/orders", "/invitation"]) {
    expect((await page.goto(path))?.status()).toBe(404);
    await heading(page, "Page not found");
  }
  await screenshot(page, "console-not-found");
  await page.getByRole("link", { name: "Go to the businesses" }).click();
  await heading(page, "Businesses");
});

test("the portal has no console if the console is elsewhere", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await page.route("**/v1/portal/config", async (route) => {
    const config = await (await route.fetch()).json();
    await route.fulfill({ json: { ...config, parts: ["portal"] } });
  });
  for (const path of ["/operator", "/operator/businesses", "/operator/password#token=none"]) {
    await page.goto(path);
    await heading(page, "Page not found");
  }
  await page.getByRole("link", { name: "Go to the overview" }).click();
  await heading(page, "Log in");
});
