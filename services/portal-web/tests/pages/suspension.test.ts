// What the users of a suspended business see, and the mails to its owners.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operator } from "../support/api";
import { DESKTOP, PHONE, visit } from "../support/browser";
import { joinTeam, newTeam } from "../support/business";
import { check } from "../support/page-checks";
import { goTo, heading } from "../support/pages";
import { stack } from "../support/stack";
import { until } from "../support/until";

/** Waits for a mail to this address with this subject. */
function mailed(to: string, subject: string): Promise<unknown> {
  const all = () => readdirSync(stack.mailFolder).filter((name) => name.endsWith(".eml"));
  const isWanted = (name: string) => {
    const mail = readFileSync(join(stack.mailFolder, name), "utf8");
    return mail.includes(`To: ${to}`) && mail.includes(`Subject: ${subject}`);
  };
  return until(`“${subject}” to ${to}`, async () => all().some(isWanted) || undefined);
}

test("all users of a suspended business see it on every page, and its owners get a mail", async () => {
  const [owner, viewer] = [await visit({ viewport: DESKTOP }), await visit({ viewport: PHONE })];
  const { id, email } = await newTeam(owner, "Suspended shop");
  const set = (status: string) => operator("PATCH", `/businesses/${id}`, { status });
  await joinTeam(viewer, owner, "viewer");
  for (const { page } of [owner, viewer]) {
    await page.goto("/");
    await heading(page, "Overview");
  }
  const notices = [owner, viewer].map(({ page }) =>
    page.getByRole("region", { name: "Your account is suspended" }),
  );
  for (const notice of notices) expect(await notice.count()).toBe(0);
  await set("suspended");
  for (const notice of notices) await notice.getByText("New live orders are refused.").waitFor();
  const list = owner.page.getByRole("region", { name: "Go-live checklist" });
  await list.getByText("Contact your delivery company to lift the suspension.").waitFor();
  await list.getByText("Your account is suspended: live orders are refused.").waitFor();
  expect(await owner.page.getByText("Your delivery company approves your business.").count()).toBe(0);
  await check(owner.page, "suspended-overview");
  await check(viewer.page, "suspended-overview-phone");
  await mailed(email, "Your Waybill account was suspended");

  await goTo(owner.page, "Orders");
  await notices[0]?.waitFor();
  await viewer.page.goto("/subscription");
  await notices[1]?.waitFor();
  await check(viewer.page, "suspended-subscription-phone");

  await goTo(owner.page, "Overview");
  await set("active");
  await notices[0]?.waitFor({ state: "hidden" });
  await mailed(email, "The suspension of your Waybill account was lifted");
});
