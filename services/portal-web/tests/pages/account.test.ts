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
import { check } from "../support/page-checks";
import { goTo, heading, joinBy, logIn, row, rowsOf, takeSecret } from "../support/pages";
import { expect, screenshot, test } from "../support/test";

const NEXT_PASSWORD = "another long enough secret";

test("a changed password logs out every other browser, and the old password is rejected", async ({
  page,
  visit,
}) => {
  const there = await visit();
  const { email } = await newBusiness(page, "Careful");
  await logInByApi(there, email);
  await there.goto("/wallet");
  await heading(there, "Wallet");

  await page.goto("/account");
  await rowsOf(page, "Sessions", 2);
  await page.getByLabel("Current password").fill("not the secret");
  await page.getByLabel("New password").fill(NEXT_PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.locator("[aria-invalid=true]:focus")).toBeVisible();
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.getByText("Password changed.")).toBeVisible();
  await rowsOf(page, "Sessions", 1);

  await there.reload();
  await heading(there, "Log in");
  await logIn(there, email, PASSWORD);
  await expect(there.getByText("The e-mail or the password is wrong.")).toBeVisible();
  await logIn(there, email, NEXT_PASSWORD);
  await heading(there, "Wallet");
});

test("a session is ended from another browser, and its own browser must log in again", async ({
  page: here,
  visit,
}) => {
  const there = await visit();
  const { email } = await newBusiness(here, "Two browsers");
  await logInByApi(there, email);

  await here.goto("/account");
  await rowsOf(here, "Sessions", 2);
  await expect(row(here, "Sessions", "This session").getByRole("button")).toHaveCount(0);
  await here.getByRole("button", { name: "End all other sessions" }).click();
  await here.getByRole("button", { name: "End sessions" }).click();
  await expect(here.getByText("1 session ended.")).toBeVisible();
  await rowsOf(here, "Sessions", 1);

  await there.goto("/orders");
  await heading(there, "Log in");
  expect(new URL(there.url()).searchParams.get("next")).toBe("/orders");
});

test("a viewer is invited by a link, sees the portal, and can change nothing", async ({ page, visit }) => {
  const viewer = await visit();
  await newTeam(page, "Team work");
  const key = await newTestKey(page, "shop");
  const { email } = someone("viewer");
  await page.goto("/account/team");
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a user" });
  for (const label of ["Owner", "Developer", "Finance", "Support", "Viewer"]) {
    await expect(dialog.getByRole("radio", { name: label, exact: true })).toHaveAttribute("aria-describedby");
  }
  await check(page, "invite-roles", { bothSizes: true });
  await dialog.getByLabel("E-mail").fill(email);
  await dialog.getByLabel("Viewer").check();
  await dialog.getByRole("button", { name: "Send invitation" }).click();
  await expect(page.getByText(`We sent the invitation to ${email}.`)).toBeVisible();
  const link = await mailedLink(email, "invitation");
  expect(new URL(link).search).toBe("");
  await expect(row(page, "Invitations", email)).toBeVisible();

  await joinBy(viewer, link);
  await goTo(viewer, "API keys");
  await expect(row(viewer, "Test keys", `…${key.slice(-4)}`)).toBeVisible();
  for (const name of [/^Create/, /^Rotate/, /^Revoke/]) {
    await expect(viewer.getByRole("main").getByRole("button", { name })).toHaveCount(0);
  }
  await goTo(viewer, "Wallet");
  await expect(viewer.getByRole("region", { name: "Balance" }).getByText("₹0.00")).toBeVisible();
  await expect(viewer.getByRole("button", { name: "Top up" })).toHaveCount(0);
  await goTo(viewer, "Account");
  await expect(viewer.getByRole("tab")).toHaveText(["Profile and security"]);
  await viewer.goto("/account/team");
  await expect(viewer.getByText("Only owners can manage the team.")).toBeVisible();
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
  await expect(mistake).toBeHidden();
  await expect(role).toHaveValue("viewer");
  await role.selectOption({ label: "Developer" });
  const question = page.getByRole("dialog", { name: `Make ${email} a developer?` });
  await question.getByRole("button", { name: "Change role" }).click();
  await expect(question).toBeHidden();
  expect(changes).toBe(1);
  await expect(role).toHaveValue("developer");
  await viewer.goto("/api-keys");
  await expect(viewer.getByRole("button", { name: "Create key" })).toBeVisible();
  const theirs = await newTestKey(viewer, "their shop");
  const others = await newTestKey(viewer, "their other shop");
  // Rotated before the removal, and again after it.
  await page.getByRole("button", { name: `Remove ${email}` }).click();
  const keys = page.getByRole("list", { name: "Keys of the user" }).getByRole("listitem");
  await expect(keys.getByText(`…${theirs.slice(-4)}`)).toBeVisible();
  await expect(keys).toHaveCount(2);
  const rotate = async (name: string, old: string, grace: string) => {
    await keys.getByRole("button", { name: `Rotate ${name} …${old.slice(-4)}` }).click();
    const rotating = page.getByRole("dialog", { name: `Rotate “${name}”` });
    await rotating.getByLabel(grace).check();
    await rotating.getByRole("button", { name: "Rotate key" }).click();
    return (await takeSecret(page, "Your new key")).slice(-4);
  };
  const second = await rotate("their shop", theirs, "After 24 hours");
  const ending = keys.filter({ hasText: `…${theirs.slice(-4)}` });
  await expect(ending.getByText("rotated, ends at")).toBeVisible();
  await expect(ending.getByRole("button")).toHaveCount(0);
  // Only the person who rotates the key sees the new one.
  await expect(keys.filter({ hasText: `…${second}` })).toHaveCount(0);
  const removal = page.getByRole("dialog", { name: `Remove ${email}?` });
  await removal.getByRole("button", { name: "Remove" }).click();
  await expect(removal).toBeHidden();
  const removed = page.getByRole("dialog", { name: `${email} is removed` });
  await expect(removed.getByText("The user can no longer log in to your business.")).toBeVisible();
  const third = await rotate("their other shop", others, "Immediately");
  await expect(keys.filter({ hasText: `…${others.slice(-4)}` })).toHaveCount(0);
  await expect(keys).toHaveCount(1);
  await removed.getByRole("button", { name: "Done" }).click();
  await rowsOf(page, "Users", 1);
  await goTo(page, "API keys");
  for (const rotated of [second, third]) {
    await expect(row(page, "Test keys", `…${rotated}`).getByText("by you")).toBeVisible();
  }
  await expect(row(page, "Test keys", `…${theirs.slice(-4)}`).getByText("by a removed user")).toBeVisible();
  await expect(row(page, "Test keys", `…${key.slice(-4)}`).getByText("by you")).toBeVisible();
  await viewer.goto("/orders");
  await heading(viewer, "Log in");
});

test("the last owner keeps the role, and the page says why", async ({ page }) => {
  const { email } = await newBusiness(page, "Alone");
  await page.goto("/account/team");
  await page.getByLabel(`Role of ${email}`).selectOption({ label: "Viewer" });
  const question = page.getByRole("dialog");
  await question.getByRole("button", { name: "Change role" }).click();
  await expect(question.getByText("The action failed")).toBeVisible();
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(question).toBeHidden();
  await expect(page.getByLabel(`Role of ${email}`)).toHaveValue("owner");
  await page.getByRole("button", { name: `Remove ${email}` }).click();
  await question.getByRole("button", { name: "Remove" }).click();
  await expect(question.getByText("The action failed")).toBeVisible();
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(question).toBeHidden();
  // A reopened dialog does not show the old error.
  await page.getByRole("button", { name: `Remove ${email}` }).click();
  await expect(question.getByRole("button", { name: "Remove" })).toBeVisible();
  await expect(question.getByText("The action failed")).toHaveCount(0);
});

test("a withdrawn invitation no longer works", async ({ page: owner, visit }) => {
  const guest = await visit();
  await newTeam(owner, "Second thoughts");
  const { email, link } = await invite(owner, "developer");
  await owner.goto("/account/team");
  await owner.getByRole("button", { name: `Withdraw the invitation for ${email}` }).click();
  await owner.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
  await expect(owner.getByText("No open invitations")).toBeVisible();
  await guest.goto(link);
  await heading(guest, "This invitation cannot be used");
});

test("the audit log shows who did what, is filtered by action, and contains no secret", async ({ page }) => {
  const { email } = await newBusiness(page, "Recorded");
  const key = await newTestKey(page, "shop");
  await page.goto("/account/audit-log");
  const created = row(page, "Audit log", "API key created");
  await expect(created.getByText(email)).toBeVisible();
  await expect(row(page, "Audit log", "Account created")).toBeVisible();
  expect(await page.content()).not.toContain(key);
  await screenshot(page, "audit-log");
  await page.getByLabel("Action").selectOption({ label: "API key created" });
  await rowsOf(page, "Audit log", 1);
  await page.getByLabel("To", { exact: true }).fill("2020-01-31");
  await expect(page.getByText("No results match these filters")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(created).toBeVisible();
});

test("times are in the operator's time zone, wherever the browser is", async ({ visit }) => {
  const page = await visit({ timezoneId: "America/New_York", locale: "de-DE" });
  await newBusiness(page, "Far away");
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
