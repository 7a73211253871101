// The bar that asks for a confirmed e-mail address, and the user's and the business's own data.
import { expect, test } from "vitest";
import { operator } from "../support/api";
import { PHONE, screenshot, visit } from "../support/browser";
import { ask, confirmEmail, logInByApi, newBusiness, PASSWORD, someone } from "../support/business";
import { mailedLink, mailedLinks } from "../support/mails";
import { check, settled } from "../support/page-checks";
import { heading, logIn, row } from "../support/pages";
import { until } from "../support/until";

test("a new user is asked to confirm their address, and cannot invite before", async () => {
  const visitor = await visit({ viewport: PHONE });
  const { page } = visitor;
  const { id, email } = await newBusiness(visitor, "New here");
  await operator("PATCH", `/businesses/${id}`, { status: "active" });
  await page.goto("/account/team");
  const bar = page.getByRole("region", { name: "Confirm your e-mail address" });
  await bar.getByText(email).waitFor();
  await check(page, "email-notice-phone");

  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a user" });
  await dialog.getByText("Confirm your e-mail address first").waitFor();
  expect(await dialog.getByLabel("Viewer").count()).toBe(0);
  await dialog.getByRole("button", { name: "Send again" }).click();
  await dialog.getByText("Sent. Check your spam folder too.").waitFor();
  await screenshot(page, "invite-unconfirmed-phone");
  await page.keyboard.press("Escape");
  const links = await until("the second mail", async () => {
    const found = mailedLinks(email, "confirm-email");
    return found.length === 2 ? found : undefined;
  });

  // Another browser without a session, as on a phone.
  const phone = await visit({ viewport: PHONE });
  await phone.page.goto(String(links[0]));
  await heading(phone.page, "Confirm your e-mail address");
  await check(phone.page, "confirm-email-guest", { bothSizes: true });
  await phone.page.getByRole("link", { name: "Log in" }).click();
  await logIn(phone.page, email, PASSWORD);
  await heading(phone.page, "Confirm your e-mail address");
  expect(phone.page.url()).not.toContain("token=");
  await settled(phone.page);
  await screenshot(phone.page, "confirm-email-phone");
  await phone.page.keyboard.press("Tab");
  await phone.page.getByRole("button", { name: "Confirm e-mail address" }).focus();
  await phone.page.keyboard.press("Enter");
  await heading(phone.page, "E-mail address confirmed");
  await phone.page.getByText(email).waitFor();
  await check(phone.page, "email-confirmed-phone");

  await page.reload();
  await heading(page, "Account");
  await page.getByRole("button", { name: "Invite" }).waitFor();
  expect(await bar.count()).toBe(0);
});

test("a link that does not work says what to do", async () => {
  const [visitor, stranger] = [await visit(), await visit()];
  const { page } = visitor;
  await newBusiness(visitor, "Victim of a link");
  const { email } = await newBusiness(stranger, "Another account");
  await page.goto("/confirm-email");
  await heading(page, "This link cannot be used");
  await page.goto(`/confirm-email#token=${"A".repeat(43)}`);
  await page.getByRole("button", { name: "Confirm e-mail address" }).click();
  await page.getByText("This link is used, replaced or expired.").waitFor();
  await page.goto(await mailedLink(email, "confirm-email"));
  await page.getByRole("button", { name: "Confirm e-mail address" }).click();
  await heading(page, "This link is for another account");
  await check(page, "confirm-email-other-account", { bothSizes: true });
  await page.getByRole("button", { name: "Log out" }).click();
  await heading(page, "Log in");
});

test("a user changes their name and address by keyboard, and an owner the business's name", async () => {
  const [visitor, elsewhere] = [await visit(), await visit()];
  const { page } = visitor;
  const { email } = await newBusiness(visitor, "Old name");
  await confirmEmail(visitor, email);
  await logInByApi(elsewhere, email);
  await page.goto("/account");
  const profile = page.getByRole("region", { name: "Profile" });
  await profile.getByText("Confirmed").waitFor();
  await profile.getByLabel("Your name").fill("Asha Rao");
  await page.keyboard.press("Enter");
  await page.getByText("Saved.").waitFor();
  const business = profile.getByLabel("Name of the business");
  await business.fill(" ");
  await page.keyboard.press("Enter");
  await profile.getByText("Enter the name of the business.").waitFor();
  await business.fill("see evil.example/offer");
  await page.keyboard.press("Enter");
  await page.locator("[aria-invalid=true]:focus").waitFor();
  await business.fill("New name");
  await page.keyboard.press("Enter");
  await page.getByRole("complementary").getByText("New name").waitFor();

  const { email: next } = someone("asha");
  await profile.getByRole("button", { name: "Change e-mail address" }).click();
  const dialog = page.getByRole("dialog", { name: "Change your e-mail address" });
  await page.locator("input:focus").and(dialog.getByLabel("New e-mail address")).waitFor();
  await page.keyboard.press("Enter");
  await dialog.getByText("Enter an e-mail address.").waitFor();
  await page.keyboard.type(next);
  await page.keyboard.press("Enter");
  const pending = profile.getByRole("region", { name: "Requested change" });
  await pending.getByText(next).waitFor();
  await check(page, "profile-pending");
  await pending.getByRole("button", { name: "Cancel change" }).click();
  await pending.waitFor({ state: "hidden" });

  await ask(visitor, "PUT", "/email", { email: next }, 202);
  await until("the second mail", async () => mailedLinks(next, "confirm-email").length === 2 || undefined);
  const link = await mailedLink(next, "confirm-email");
  await page.goto(link);
  await page.getByRole("button", { name: "Confirm e-mail address" }).click();
  await heading(page, "E-mail address confirmed");
  await page.getByRole("link", { name: "Continue" }).click();
  await page.goto("/account/team");
  const line = row(page, "Users", "Asha Rao");
  await line.getByText(next).waitFor();
  await screenshot(page, "team-names");
  await page.goto("/account/audit-log");
  await row(page, "Audit log", "E-mail address changed").getByText(`From ${email} to ${next}`).waitFor();
  await row(page, "Audit log", "Business renamed").getByText("From Old name to New name").waitFor();
  await row(page, "Audit log", "Name changed").getByText("Asha Rao (").waitFor();
  await screenshot(page, "audit-log-profile");
  await elsewhere.page.goto("/orders");
  await heading(elsewhere.page, "Log in");
  await logIn(elsewhere.page, next, PASSWORD);
  await heading(elsewhere.page, "Orders");
});

test("the profile fits a phone", async () => {
  const visitor = await visit({ viewport: PHONE });
  const { page } = visitor;
  const { email } = await newBusiness(visitor, "Small");
  await ask(visitor, "PUT", "/email", { email: `${"long-".repeat(11)}${email}`.slice(-60) }, 202);
  await page.goto("/account");
  await page.getByRole("region", { name: "Requested change" }).waitFor();
  await check(page, "profile-phone");
});
