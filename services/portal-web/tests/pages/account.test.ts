import { expect, test } from "vitest";
import { screenshot, visit } from "../support/browser";
import {
  ask,
  invite,
  logInByApi,
  newBusiness,
  newTeam,
  newTestKey,
  PASSWORD,
  someone,
} from "../support/business";
import { mailedLink } from "../support/mails";
import { goTo, heading, joinBy, logIn, row, rowsOf, takeSecret } from "../support/pages";

const NEXT_PASSWORD = "another long enough secret";

test("a changed password logs out every other browser, and the old password is rejected", async () => {
  const [here, there] = [await visit(), await visit()];
  const { email } = await newBusiness(here, "Careful");
  await logInByApi(there, email);
  await there.page.goto("/wallet");
  await heading(there.page, "Wallet");

  const { page } = here;
  await page.goto("/account");
  await rowsOf(page, "Sessions", 2);
  await page.getByLabel("Current password").fill("not the secret");
  await page.getByLabel("New password").fill(NEXT_PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.locator("[aria-invalid=true]:focus").waitFor();
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed.").waitFor();
  await rowsOf(page, "Sessions", 1);

  await there.page.reload();
  await heading(there.page, "Log in");
  await logIn(there.page, email, PASSWORD);
  await there.page.getByText("The e-mail or the password is wrong.").waitFor();
  await logIn(there.page, email, NEXT_PASSWORD);
  await heading(there.page, "Wallet");
});

test("a session is ended from another browser, and its own browser must log in again", async () => {
  const [here, there] = [await visit(), await visit()];
  const { email } = await newBusiness(here, "Two browsers");
  await logInByApi(there, email);

  await here.page.goto("/account");
  await rowsOf(here.page, "Sessions", 2);
  expect(await row(here.page, "Sessions", "This session").getByRole("button").count()).toBe(0);
  await here.page.getByRole("button", { name: "End all other sessions" }).click();
  await here.page.getByRole("button", { name: "End sessions" }).click();
  await here.page.getByText("1 session ended.").waitFor();
  await rowsOf(here.page, "Sessions", 1);

  await there.page.goto("/orders");
  await heading(there.page, "Log in");
  expect(new URL(there.page.url()).searchParams.get("next")).toBe("/orders");
});

test("a viewer is invited by a link, sees the portal, and can change nothing", async () => {
  const [owner, viewer] = [await visit(), await visit()];
  await newTeam(owner, "Team work");
  const key = await newTestKey(owner, "shop");
  const { email } = someone("viewer");
  const { page } = owner;
  await page.goto("/account/team");
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a user" });
  await dialog.getByLabel("E-mail").fill(email);
  await dialog.getByLabel("Viewer").check();
  await dialog.getByRole("button", { name: "Send invitation" }).click();
  await page.getByText(`We sent the invitation to ${email}.`).waitFor();
  const link = await mailedLink(email, "invitation");
  expect(new URL(link).search).toBe("");
  await row(page, "Invitations", email).waitFor();

  await joinBy(viewer.page, link);
  await goTo(viewer.page, "API keys");
  await row(viewer.page, "Test keys", `…${key.slice(-4)}`).waitFor();
  for (const name of [/^Create/, /^Rotate/, /^Revoke/]) {
    expect(await viewer.page.getByRole("main").getByRole("button", { name }).count()).toBe(0);
  }
  await goTo(viewer.page, "Wallet");
  await viewer.page.getByRole("region", { name: "Balance" }).getByText("₹0.00").waitFor();
  expect(await viewer.page.getByRole("button", { name: "Top up" }).count()).toBe(0);
  await goTo(viewer.page, "Account");
  expect(await viewer.page.getByRole("tab").allTextContents()).toEqual(["Profile and security"]);
  await viewer.page.goto("/account/team");
  await viewer.page.getByText("Only owners can manage the team.").waitFor();
  // The server rejects direct calls too.
  await ask(viewer, "POST", "/api-keys", { mode: "test", name: "sneaky" }, 403);
  await ask(viewer, "GET", "/audit-log", undefined, 403);

  await page.reload();
  await rowsOf(page, "Users", 2);
  let changes = 0;
  page.on("request", (request) => {
    if (request.method() === "PATCH") changes += 1;
  });
  const role = page.getByLabel(`Role of ${email}`);
  await role.selectOption({ label: "Owner" });
  const mistake = page.getByRole("dialog", { name: `Make ${email} an owner?` });
  await mistake.getByRole("button", { name: "Cancel" }).click();
  await mistake.waitFor({ state: "hidden" });
  expect(await role.inputValue()).toBe("viewer");
  await role.selectOption({ label: "Developer" });
  const question = page.getByRole("dialog", { name: `Make ${email} a developer?` });
  await question.getByRole("button", { name: "Change role" }).click();
  await question.waitFor({ state: "hidden" });
  expect(changes).toBe(1);
  expect(await role.inputValue()).toBe("developer");
  await viewer.page.goto("/api-keys");
  await viewer.page.getByRole("button", { name: "Create key" }).waitFor();
  const theirs = await newTestKey(viewer, "their shop");
  const others = await newTestKey(viewer, "their other shop");
  // Rotated before the removal, and again after it.
  await page.getByRole("button", { name: `Remove ${email}` }).click();
  const keys = page.getByRole("list", { name: "Keys of the user" }).getByRole("listitem");
  await keys.getByText(`…${theirs.slice(-4)}`).waitFor();
  expect(await keys.count()).toBe(2);
  const rotate = async (name: string, old: string, grace: string) => {
    await keys.getByRole("button", { name: `Rotate ${name} …${old.slice(-4)}` }).click();
    const rotating = page.getByRole("dialog", { name: `Rotate “${name}”` });
    await rotating.getByLabel(grace).check();
    await rotating.getByRole("button", { name: "Rotate key" }).click();
    return (await takeSecret(page, "Your new key")).slice(-4);
  };
  const second = await rotate("their shop", theirs, "After 24 hours");
  const ending = keys.filter({ hasText: `…${theirs.slice(-4)}` });
  await ending.getByText("rotated, ends at").waitFor();
  expect(await ending.getByRole("button").count()).toBe(0);
  // Only the person who rotates the key sees the new one.
  expect(await keys.filter({ hasText: `…${second}` }).count()).toBe(0);
  const removal = page.getByRole("dialog", { name: `Remove ${email}?` });
  await removal.getByRole("button", { name: "Remove" }).click();
  await removal.waitFor({ state: "hidden" });
  const removed = page.getByRole("dialog", { name: `${email} is removed` });
  await removed.getByText("The user can no longer log in to your business.").waitFor();
  const third = await rotate("their other shop", others, "Immediately");
  await keys.filter({ hasText: `…${others.slice(-4)}` }).waitFor({ state: "detached" });
  expect(await keys.count()).toBe(1);
  await removed.getByRole("button", { name: "Done" }).click();
  await rowsOf(page, "Users", 1);
  await goTo(page, "API keys");
  for (const rotated of [second, third]) {
    await row(page, "Test keys", `…${rotated}`).getByText("by you").waitFor();
  }
  await row(page, "Test keys", `…${theirs.slice(-4)}`)
    .getByText("by a removed user")
    .waitFor();
  await row(page, "Test keys", `…${key.slice(-4)}`)
    .getByText("by you")
    .waitFor();
  await viewer.page.goto("/orders");
  await heading(viewer.page, "Log in");
});

test("the last owner keeps the role, and the page says why", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const { email } = await newBusiness(visitor, "Alone");
  await page.goto("/account/team");
  await page.getByLabel(`Role of ${email}`).selectOption({ label: "Viewer" });
  const question = page.getByRole("dialog");
  await question.getByRole("button", { name: "Change role" }).click();
  await question.getByText("The action failed").waitFor();
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "hidden" });
  expect(await page.getByLabel(`Role of ${email}`).inputValue()).toBe("owner");
  await page.getByRole("button", { name: `Remove ${email}` }).click();
  await question.getByRole("button", { name: "Remove" }).click();
  await question.getByText("The action failed").waitFor();
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "hidden" });
  // A reopened dialog does not show the old error.
  await page.getByRole("button", { name: `Remove ${email}` }).click();
  await question.getByRole("button", { name: "Remove" }).waitFor();
  expect(await question.getByText("The action failed").count()).toBe(0);
});

test("a withdrawn invitation no longer works", async () => {
  const [owner, guest] = [await visit(), await visit()];
  await newTeam(owner, "Second thoughts");
  const { email, link } = await invite(owner, "developer");
  await owner.page.goto("/account/team");
  await owner.page.getByRole("button", { name: `Withdraw the invitation for ${email}` }).click();
  await owner.page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
  await owner.page.getByText("No open invitations").waitFor();
  await guest.page.goto(link);
  await heading(guest.page, "This invitation cannot be used");
});

test("the audit log shows who did what, is filtered by action, and contains no secret", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const { email } = await newBusiness(visitor, "Recorded");
  const key = await newTestKey(visitor, "shop");
  await page.goto("/account/audit-log");
  const created = row(page, "Audit log", "API key created");
  await created.getByText(email).waitFor();
  await row(page, "Audit log", "Account created").waitFor();
  expect(await page.content()).not.toContain(key);
  await screenshot(page, "audit-log");
  await page.getByLabel("Action").selectOption({ label: "API key created" });
  await rowsOf(page, "Audit log", 1);
  await page.getByLabel("To", { exact: true }).fill("2020-01-31");
  await page.getByText("No results match these filters").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await created.waitFor();
});

test("times are in the operator's time zone, wherever the browser is", async () => {
  const visitor = await visit({ timezoneId: "America/New_York", locale: "de-DE" });
  const { page } = visitor;
  await newBusiness(visitor, "Far away");
  await page.goto("/account");
  const time = page.getByRole("table", { name: "Sessions" }).locator("time").first();
  const [shown, at] = [await time.getAttribute("title"), await time.getAttribute("datetime")];
  const expected = new Intl.DateTimeFormat("en-IN", {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: "Asia/Kolkata",
  }).format(new Date(String(at)));
  // Versions of the locale data differ in their spaces.
  expect(shown?.replace(/\s/g, " ")).toBe(`${expected} IST`.replace(/\s/g, " "));
});
