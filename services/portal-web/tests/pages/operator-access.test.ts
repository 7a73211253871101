import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { PHONE, screenshot, visit } from "../support/browser";
import { joinStaff, logInAsOperator, newBusiness, PASSWORD, someone } from "../support/business";
import { check, settled } from "../support/page-checks";
import { heading, joinStaffBy, logIn, openBusiness, row, takeSecret } from "../support/pages";
import { stack } from "../support/stack";

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
  await dialog.getByLabel(role).check();
  await dialog.getByRole("button", { name: "Create link" }).click();
  return takeSecret(page, `Link for ${email}`);
}

test("a person is invited, sees what the role allows, gets another role, and is removed", async () => {
  const [owner, boss, person] = [await visit(), await visit(), await visit()];
  const business = await newBusiness(owner, `Watched ${Date.now()}`);
  const { email } = someone("asha");
  await logInAsOperator(boss);
  await joinStaffBy(person.page, await inviteStaff(boss.page, email, "Viewer"), email);
  const navigation = person.page.getByRole("navigation", { name: "Main" }).getByRole("link");
  expect(await navigation.allTextContents()).toEqual(["Businesses", "Cash"]);
  await openBusiness(person.page, business);
  expect(await person.page.getByRole("tab").allTextContents()).toEqual(["Status", "Health"]);
  for (const name of ["Approve", "Credit wallet"]) {
    expect(await person.page.getByRole("button", { name }).count()).toBe(0);
  }
  // The server rejects direct calls too.
  expect((await person.page.request.get("/v1/operator/staff")).status()).toBe(403);

  await boss.page.reload();
  await boss.page.getByLabel(`Role of ${email}`).selectOption({ label: "Support" });
  const question = boss.page.getByRole("dialog");
  await question.getByRole("button", { name: "Change role" }).click();
  await question.waitFor({ state: "hidden" });
  await person.page.reload();
  await person.page.getByRole("button", { name: "Approve" }).click();
  await person.page.getByRole("status", { name: "Business" }).getByText("Active").waitFor();
  await person.page.getByRole("tab", { name: "Audit log" }).click();
  await row(person.page, "Audit log", "Business approved").getByText(email).waitFor();

  await openPage(boss.page, "Audit log");
  await boss.page.getByLabel("Person or token").fill(email);
  await boss.page.getByLabel("Show reads").click();
  const read = row(boss.page, "Audit log", "Business’s audit log read").first();
  await read.getByText(email).waitFor();
  await read.getByText("127.0.0.1").waitFor();
  expect(await boss.page.content()).not.toContain(PASSWORD);
  await screenshot(boss.page, "operator-own-log");

  await openPage(boss.page, "Staff");
  await boss.page.getByRole("button", { name: `Remove ${email}` }).click();
  await question.getByRole("button", { name: "Remove" }).click();
  await row(boss.page, "Staff", email).waitFor({ state: "detached" });
  expect((await person.page.request.get("/v1/operator/businesses")).status()).toBe(401);
  await person.page.goto("/operator");
  await logIn(person.page, email, PASSWORD);
  await person.page.getByText("The e-mail or the password is wrong.").waitFor();
});

test("a person finds the own account by the name, on a desktop and on a phone, and changes the name", async () => {
  const [wide, narrow] = [await visit(), await visit({ viewport: PHONE })];
  const { email } = await joinStaff(wide, "Asha Rao");
  await wide.page.goto("/operator");
  await heading(wide.page, "Businesses");
  await check(wide.page, "console-desktop");
  const menu = wide.page.getByRole("button", { name: new RegExp(`^Account: .*${email}`) });
  await menu.getByText("Asha Rao").waitFor();
  await menu.press("Enter");
  await wide.page.getByRole("menuitem", { name: "Your account" }).waitFor();
  await settled(wide.page);
  await screenshot(wide.page, "console-account-menu");
  await wide.page.getByRole("menuitem", { name: "Your account" }).click();
  await heading(wide.page, "Your account");
  await wide.page.getByLabel("Your name").fill("Asha Iyer");
  await wide.page.getByRole("button", { name: "Save name" }).click();
  await menu.getByText("Asha Iyer").waitFor();
  await check(wide.page, "console-account");

  await logInAsOperator(narrow, email);
  await narrow.page.goto("/operator");
  await heading(narrow.page, "Businesses");
  await narrow.page.getByRole("button", { name: "Navigation" }).click();
  await check(narrow.page, "console-phone-menu");
  await openPage(narrow.page, "Your account");
  await check(narrow.page, "console-account-phone");
  await narrow.page.getByRole("button", { name: new RegExp(`^Account: .*${email}`) }).click();
  await narrow.page.getByRole("menuitem", { name: "Log out" }).click();
  await heading(narrow.page, "Operator console");
});

test("a tab of Asha does nothing as Ravi, who has logged in in another tab, and then shows him", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await joinStaff(visitor, "Asha Rao");
  await page.goto("/operator/account");
  await page.getByLabel("Your name").fill("Asha Iyer");
  const { email } = await joinStaff(visitor, "Ravi Das");
  await page.getByRole("button", { name: "Save name" }).click();
  await page.getByText("You have switched to another business or account in another tab.").waitFor();
  await page
    .getByRole("button", { name: new RegExp(`^Account: .*${email}`) })
    .getByText("Ravi Das")
    .waitFor();
});

test("an administrator unlinks a person from single sign-on, and sees who cannot log in", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await logInAsOperator(visitor);
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
  await row(page, "Staff", "binu@carrier.example").getByText("Cannot log in").waitFor();
  const twoFactor = page.getByRole("table", { name: "Staff" }).locator("tbody td:nth-child(3)");
  expect(await twoFactor.allTextContents()).toEqual(["On", "On", "Off", "Single sign-on"]);
  await check(page, "staff-linked", { bothSizes: true });
  await page.getByRole("button", { name: "Unlink asha@carrier.example from single sign-on" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Unlink" }).click();
  await page
    .getByRole("button", { name: "Unlink asha@carrier.example from single sign-on" })
    .waitFor({ state: "detached" });
  expect(unlinked).toEqual(["DELETE /v1/operator/staff/asha/identity"]);
});

test("a token is shown once, works with its role, is rotated and disabled", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const name = `robot ${Date.now()}`;
  await logInAsOperator(visitor);
  await page.goto("/operator/tokens");
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a token" });
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Create token" }).click();
  const first = await takeSecret(page, `Token ${name}`);
  await row(page, "Tokens", name).getByText("Viewer").waitFor();
  expect(await status(first, "businesses")).toBe(200);
  expect(await status(first, "tokens")).toBe(403);

  await page.getByRole("button", { name: `Rotate ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate token" }).click();
  const second = await takeSecret(page, `Token ${name}`);
  expect([await status(first, "businesses"), await status(second, "businesses")]).toEqual([200, 200]);
  await page.getByRole("button", { name: `Disable ${name}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable token" }).click();
  await row(page, "Tokens", name).getByText("Disabled").waitFor();
  expect([await status(first, "businesses"), await status(second, "businesses")]).toEqual([401, 401]);
});

/** The status of a call with this token, as a program sends it. */
async function status(token: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${stack.portal}/v1/operator/${path}`, { headers })).status;
}
