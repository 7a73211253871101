// What the users of a suspended business see, and the mails to its owners.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { operator } from "../support/api";
import { joinTeam, newTeam } from "../support/business";
import { check } from "../support/page-checks";
import { goTo, heading } from "../support/pages";
import { stack } from "../support/stack";
import { expect, PHONE, test } from "../support/test";

/** Waits for a mail to this address with this subject. */
async function mailed(to: string, subject: string): Promise<void> {
  const all = () => readdirSync(stack.mailFolder).filter((name) => name.endsWith(".eml"));
  const isWanted = (name: string) => {
    const mail = readFileSync(join(stack.mailFolder, name), "utf8");
    return mail.includes(`To: ${to}`) && mail.includes(`Subject: ${subject}`);
  };
  await expect.poll(() => all().some(isWanted), `“${subject}” to ${to}`).toBe(true);
}

test("all users of a suspended business see it on every page, and its owners get a mail", async ({
  visit,
}) => {
  const [owner, viewer] = [await visit(), await visit({ viewport: PHONE })];
  const { id, email } = await newTeam(owner, "Suspended shop");
  const set = (status: string) => operator("PATCH", `/businesses/${id}`, { status });
  await joinTeam(viewer, owner, "viewer");
  const notice = (page: Page) => page.getByRole("region", { name: "Your account is suspended" });
  for (const page of [owner, viewer]) {
    await page.goto("/");
    await heading(page, "Overview");
    await expect(notice(page)).toHaveCount(0);
  }
  await set("suspended");
  for (const page of [owner, viewer])
    await expect(notice(page).getByText("New live orders are refused.")).toBeVisible();
  const list = owner.getByRole("region", { name: "Go-live checklist" });
  await expect(list.getByText("Contact your delivery company to lift the suspension.")).toBeVisible();
  await expect(list.getByText("Your account is suspended: live orders are refused.")).toBeVisible();
  await expect(owner.getByText("Your delivery company approves your business.")).toHaveCount(0);
  await check(owner, "suspended-overview");
  await check(viewer, "suspended-overview-phone");
  await mailed(email, "Your Waybill account was suspended");

  await goTo(owner, "Orders");
  await expect(notice(owner)).toBeVisible();
  await viewer.goto("/subscription");
  await expect(notice(viewer)).toBeVisible();
  await check(viewer, "suspended-subscription-phone");

  await goTo(owner, "Overview");
  await set("active");
  await expect(notice(owner)).toBeHidden();
  await mailed(email, "The suspension of your Waybill account was lifted");
});
