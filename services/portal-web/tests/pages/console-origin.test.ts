// The operator's console at an origin of its own.
import { newBusiness } from "../support/business";
import { heading, logInWithToken, openBusiness } from "../support/pages";
import { stack } from "../support/stack";
import { expect, screenshot, test } from "../support/test";

test("an operator logs in at the console's origin, which has no pages for businesses", async ({
  request,
  visit,
}) => {
  const page = await visit({ baseURL: stack.console });
  const business = await newBusiness({ request }, `Far away ${Date.now()}`);
  await page.goto("/");
  await heading(page, "Operator console");
  await expect(page).toHaveURL(`${stack.console}/operator`);
  const redirected = await page.context().request.get("/", { maxRedirects: 0 });
  expect([redirected.status(), redirected.headers().location]).toEqual([302, "/operator"]);
  const portal = page.getByRole("link", { name: "Go to the portal" });
  await expect(portal).toHaveAttribute("href", `${stack.portal}/log-in`);
  await logInWithToken(page);
  await openBusiness(page, business);
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("status", { name: "Business" }).getByText("Active")).toBeVisible();
  for (const path of ["/log-in", "/orders", "/invitation"]) {
    expect((await page.goto(path))?.status()).toBe(404);
    await heading(page, "Page not found");
  }
  await screenshot(page, "console-not-found");
  await page.getByRole("link", { name: "Go to the businesses" }).click();
  await heading(page, "Businesses");
});

test("the portal has no console if the console is elsewhere", async ({ page }) => {
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
