import type { Page } from "@playwright/test";
import { joinStaff, logInAsOperator, newBusiness, PASSWORD, someone } from "../support/business";
import { check, settled } from "../support/page-checks";
import { heading, joinStaffBy, logIn, openBusiness, row, takeSecret } from "../support/pages";
import { stack } from "../support/stack";
import { expect, PHONE, screenshot, test } from "../support/test";

/** Opens a page of the console by its navigation. */
async function openPage(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
  await heading(page, name);
}

async function inviteStaff(page: Page, email: string, role: string): Promise<string> {
  await page.goto("/operator/staff");
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a person" });
  await dialog.getByLabel("Name").fill("Asha Rao");
  await dialog.getByLabel("E-mail").fill(email);
  await expect(dialog.getByText("Credits and debits wallets, and takes credits back.")).toBeVisible();
  await expect(dialog.getByText("you and this person cannot approve each other’s requests.")).toBeVisible();
  await dialog.getByLabel(role).check();
  await dialog.getByRole("button", { name: "Create link" }).click();
  return takeSecret(page, `Link for ${email}`);
}

test("a person is invited, sees what the role allows, gets another role, and is removed", async ({
  page: boss,
  request,
  visit,
}) => {
  const person = await visit();
  const business = await newBusiness({ request }, `Watched ${Date.now()}`);
  const { email } = someone("asha");
  await joinStaff(boss, "Meera Iyer");
  await joinStaffBy(person, await inviteStaff(boss, email, "Viewer"), email);
  const navigation = person.getByRole("navigation", { name: "Main" }).getByRole("link");
  await expect(navigation).toHaveText(["Overview", "Businesses", "Cash"]);
  await openBusiness(person, business);
  await expect(person.getByRole("tab")).toHaveText(["Status", "Contact", "Health", "Cash", "Closing"]);
  for (const name of ["Approve", "Credit wallet"]) {
    await expect(person.getByRole("button", { name })).toHaveCount(0);
  }
  // The server rejects direct calls too.
  expect((await person.request.get("/v1/operator/staff")).status()).toBe(403);

  await boss.reload();
  await boss.getByLabel(`Role of ${email}`).selectOption({ label: "Support" });
  const question = boss.getByRole("dialog");
  await question.getByRole("button", { name: "Change role" }).click();
  await expect(question).toBeHidden();
  await person.reload();
  await person.getByRole("button", { name: "Approve" }).click();
  await expect(person.getByRole("status", { name: "Business" }).getByText("Active")).toBeVisible();
  await person.getByRole("tab", { name: "Audit log" }).click();
  await expect(row(person, "Audit log", "Business approved").getByText(email)).toBeVisible();

  await openPage(boss, "Audit log");
  await boss.getByLabel("Person or token").fill(email);
  await boss.getByLabel("Show reads").click();
  const read = row(boss, "Audit log", "Business’s audit log read").first();
  await expect(read.getByText(email)).toBeVisible();
  await expect(read.getByText("127.0.0.1")).toBeVisible();
  expect(await boss.content()).not.toContain(PASSWORD);
  await screenshot(boss, "operator-own-log");

  await openPage(boss, "Staff");
  await boss.getByRole("button", { name: `Remove ${email}` }).click();
  await question.getByRole("button", { name: "Remove" }).click();
  await expect(row(boss, "Staff", email)).toHaveCount(0);
  expect((await person.request.get("/v1/operator/businesses")).status()).toBe(401);
  await person.goto("/operator");
  await logIn(person, email, PASSWORD);
  await expect(person.getByText("The e-mail or the password is wrong.")).toBeVisible();
});

test("a person finds the own account by the name, on a desktop and on a phone, and changes the name", async ({
  visit,
}) => {
  const [wide, narrow] = [await visit(), await visit({ viewport: PHONE })];
  const { email } = await joinStaff(wide, "Asha Rao");
  await wide.goto("/operator");
  await heading(wide, "Overview");
  await check(wide, "console-desktop");
  const menu = wide.getByRole("button", { name: new RegExp(`^Account: .*${email}`) });
  await expect(menu.getByText("Asha Rao")).toBeVisible();
  await menu.press("Enter");
  await expect(wide.getByRole("menuitem", { name: "Your account" })).toBeVisible();
  await settled(wide);
  await screenshot(wide, "console-account-menu");
  await wide.getByRole("menuitem", { name: "Your account" }).click();
  await heading(wide, "Your account");
  await wide.getByLabel("Your name").fill("Asha Iyer");
  await wide.getByRole("button", { name: "Save name" }).click();
  await expect(menu.getByText("Asha Iyer")).toBeVisible();
  await check(wide, "console-account");

  await logInAsOperator(narrow, email);
  await narrow.goto("/operator");
  await heading(narrow, "Overview");
  await narrow.getByRole("button", { name: "Navigation" }).click();
  await check(narrow, "console-phone-menu");
  await openPage(narrow, "Your account");
  await check(narrow, "console-account-phone");
  await narrow.getByRole("button", { name: new RegExp(`^Account: .*${email}`) }).click();
  await narrow.getByRole("menuitem", { name: "Log out" }).click();
  await heading(narrow, "Operator console");
});

test("a tab of Asha does nothing as Ravi, who has logged in in another tab, and then shows him", async ({
  page,
}) => {
  await joinStaff(page, "Asha Rao");
  await page.goto("/operator/account");
  await page.getByLabel("Your name").fill("Asha Iyer");
  const { email } = await joinStaff(page, "Ravi Das");
  await page.getByRole("button", { name: "Save name" }).click();
  await expect(
    page.getByText("You have switched to another business or account in another tab."),
  ).toBeVisible();
  await expect(
    page.getByRole("button", { name: new RegExp(`^Account: .*${email}`) }).getByText("Ravi Das"),
  ).toBeVisible();
});

test("an administrator unlinks a person from single sign-on, and sees who cannot log in", async ({
  page,
}) => {
  await logInAsOperator(page);
  const person = (id: string, more: object) => ({
    id,
    name: "Asha Rao",
    email: `${id}@carrier.example`,
    role: "administrator",
    status: "active",
    createdAt: "2026-01-01T00:00:00Z",
    lastSeenAt: null,
    secondFactor: true,
    singleSignOn: true,
    you: false,
    ...more,
  });
  const unlinked: string[] = [];
  // The local stack has no identity provider, so that the test plays the server's answers.
  await page.route("**/v1/operator/staff?*", (route) => {
    const data = [
      person("asha", { singleSignOn: unlinked.length === 0 }),
      person("binu", { status: "inactive" }),
      person("chitra", { secondFactor: false, singleSignOn: false }),
      person("dev", { secondFactor: false }),
    ];
    return route.fulfill({ json: { data, hasMore: false } });
  });
  await page.route("**/v1/operator/staff/*/identity", (route) => {
    unlinked.push(`${route.request().method()} ${new URL(route.request().url()).pathname}`);
    return route.fulfill({ status: 204 });
  });
  await page.goto("/operator/staff");
  await expect(row(page, "Staff", "binu@carrier.example").getByText("Cannot log in")).toBeVisible();
  const twoFactor = page.getByRole("table", { name: "Staff" }).locator("tbody td:nth-child(3)");
  await expect(twoFactor).toHaveText(["On", "On", "Off", "Single sign-on"]);
  await check(page, "staff-linked", { bothSizes: true });
  await page.getByRole("button", { name: "Unlink asha@carrier.example from single sign-on" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Unlink" }).click();
  await expect(
    page.getByRole("button", { name: "Unlink asha@carrier.example from single sign-on" }),
  ).toHaveCount(0);
  expect(unlinked).toEqual(["DELETE /v1/operator/staff/asha/identity"]);
});

test("a token is shown once, works with its role, is rotated and disabled", async ({ page }) => {
  const name = `robot ${Date.now()}`;
  await logInAsOperator(page);
  await page.goto("/operator/tokens");
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a token" });
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Create token" }).click();
  const first = await takeSecret(page, `Token ${name}`);
  await expect(row(page, "Tokens", name).getByText("Viewer")).toBeVisible();
  expect(await status(first, "businesses")).toBe(200);
  expect(await status(first, "tokens")).toBe(403);

  await page.getByRole("button", { name: `Rotate ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate token" }).click();
  const second = await takeSecret(page, `Token ${name}`);
  expect([await status(first, "businesses"), await status(second, "businesses")]).toEqual([200, 200]);
  await page.getByRole("button", { name: `Disable ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable token" }).click();
  await expect(row(page, "Tokens", name).getByText("Disabled")).toBeVisible();
  expect([await status(first, "businesses"), await status(second, "businesses")]).toEqual([401, 401]);
});

/** The status of a call with this token, as a program sends it. */
async function status(token: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${stack.portal}/v1/operator/${path}`, { headers })).status;
}
