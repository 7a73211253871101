// The bar that asks for a confirmed e-mail address, and the user's and the business's own data.
import { operator } from "../support/api";
import { ask, confirmEmail, logInByApi, newBusiness, PASSWORD, someone } from "../support/business";
import { mailedLink, mailedLinks } from "../support/mails";
import { check, settled } from "../support/page-checks";
import { heading, logIn, row } from "../support/pages";
import { expect, PHONE, screenshot, test } from "../support/test";

test("a new user is asked to confirm their address, and cannot invite before", async ({ visit }) => {
  const page = await visit({ viewport: PHONE });
  const { id, email } = await newBusiness(page, "New here");
  await operator("PATCH", `/businesses/${id}`, { status: "active" });
  await page.goto("/account/team");
  const bar = page.getByRole("region", { name: "Confirm your e-mail address" });
  await expect(bar.getByText(email)).toBeVisible();
  await check(page, "email-notice-phone");

  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a user" });
  await expect(dialog.getByText("Confirm your e-mail address first")).toBeVisible();
  await expect(dialog.getByLabel("Viewer")).toHaveCount(0);
  await dialog.getByRole("button", { name: "Send again" }).click();
  await expect(dialog.getByText("Sent. Check your spam folder too.")).toBeVisible();
  await screenshot(page, "invite-unconfirmed-phone");
  await page.keyboard.press("Escape");
  const links = () => mailedLinks(email, "confirm-email");
  await expect.poll(links).toHaveLength(2);

  // Another browser without a session, as on a phone.
  const phone = await visit({ viewport: PHONE });
  await phone.goto(String(links()[0]));
  await heading(phone, "Confirm your e-mail address");
  await check(phone, "confirm-email-guest", { bothSizes: true });
  await phone.getByRole("link", { name: "Log in" }).click();
  await logIn(phone, email, PASSWORD);
  await heading(phone, "Confirm your e-mail address");
  expect(phone.url()).not.toContain("token=");
  await settled(phone);
  await screenshot(phone, "confirm-email-phone");
  await phone.keyboard.press("Tab");
  await phone.getByRole("button", { name: "Confirm e-mail address" }).focus();
  await phone.keyboard.press("Enter");
  await heading(phone, "E-mail address confirmed");
  await expect(phone.getByText(email)).toBeVisible();
  await check(phone, "email-confirmed-phone");

  await page.reload();
  await heading(page, "Account");
  await expect(page.getByRole("button", { name: "Invite" })).toBeVisible();
  await expect(bar).toHaveCount(0);
});

test("a link that does not work says what to do", async ({ page, request }) => {
  await newBusiness(page, "Victim of a link");
  const { email } = await newBusiness({ request }, "Another account");
  await page.goto("/confirm-email");
  await heading(page, "This link cannot be used");
  await page.goto(`/confirm-email#token=${"A".repeat(43)}`);
  await page.getByRole("button", { name: "Confirm e-mail address" }).click();
  await expect(page.getByText("This link is used, replaced or expired.")).toBeVisible();
  await page.goto(await mailedLink(email, "confirm-email"));
  await page.getByRole("button", { name: "Confirm e-mail address" }).click();
  await heading(page, "This link is for another account");
  await check(page, "confirm-email-other-account", { bothSizes: true });
  await page.getByRole("button", { name: "Log out" }).click();
  await heading(page, "Log in");
});

test("a user changes their name and address by keyboard, and an owner the business's name", async ({
  page,
  visit,
}) => {
  const elsewhere = await visit();
  const { email } = await newBusiness(page, "Old name");
  await confirmEmail(page, email);
  await logInByApi(elsewhere, email);
  await page.goto("/account");
  const profile = page.getByRole("region", { name: "Profile" });
  await expect(profile.getByText("Confirmed")).toBeVisible();
  await profile.getByLabel("Your name").fill("Asha Rao");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Saved.")).toBeVisible();
  const business = profile.getByLabel("Name of the business");
  await business.fill(" ");
  await page.keyboard.press("Enter");
  await expect(profile.getByText("Enter the name of the business.")).toBeVisible();
  await business.fill("see evil.example/offer");
  await page.keyboard.press("Enter");
  await expect(page.locator("[aria-invalid=true]:focus")).toBeVisible();
  await business.fill("New name");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("complementary").getByText("New name")).toBeVisible();

  // As long as addresses get, for a phone.
  const { email: next } = someone(`${"long-".repeat(5)}asha`);
  await profile.getByRole("button", { name: "Change e-mail address" }).click();
  const dialog = page.getByRole("dialog", { name: "Change your e-mail address" });
  await expect(dialog.getByLabel("New e-mail address")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(dialog.getByText("Enter an e-mail address.")).toBeVisible();
  await page.keyboard.type(next);
  await page.keyboard.press("Enter");
  const pending = profile.getByRole("region", { name: "Requested change" });
  await expect(pending.getByText(next)).toBeVisible();
  await check(page, "profile-pending", { bothSizes: true });
  await pending.getByRole("button", { name: "Cancel change" }).click();
  await expect(pending).toBeHidden();

  await ask(page, "PUT", "/email", { email: next }, 202);
  await expect.poll(() => mailedLinks(next, "confirm-email")).toHaveLength(2);
  const link = await mailedLink(next, "confirm-email");
  await page.goto(link);
  await page.getByRole("button", { name: "Confirm e-mail address" }).click();
  await heading(page, "E-mail address confirmed");
  await page.getByRole("link", { name: "Continue" }).click();
  await page.goto("/account/team");
  const line = row(page, "Users", "Asha Rao");
  await expect(line.getByText(next)).toBeVisible();
  await screenshot(page, "team-names");
  await page.goto("/account/audit-log");
  await expect(
    row(page, "Audit log", "E-mail address changed").getByText(`From ${email} to ${next}`),
  ).toBeVisible();
  await expect(
    row(page, "Audit log", "Business renamed").getByText("From Old name to New name"),
  ).toBeVisible();
  await expect(row(page, "Audit log", "Name changed").getByText("Asha Rao (")).toBeVisible();
  await screenshot(page, "audit-log-profile");
  await elsewhere.goto("/orders");
  await heading(elsewhere, "Log in");
  await logIn(elsewhere, next, PASSWORD);
  await heading(elsewhere, "Orders");
});
