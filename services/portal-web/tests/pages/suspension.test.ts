// What the users of a suspended business see, and the mails to its owners.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operator } from "../support/api";
import { DESKTOP, openBrowser, PHONE, screenshot, type Visitor, visit } from "../support/browser";
import { ask, confirmEmail, newBusiness, someone } from "../support/business";
import { mailedLink } from "../support/mails";
import { overhang, seriousFindings, settled } from "../support/page-checks";
import { goTo, heading, joinBy } from "../support/pages";
import { stack } from "../support/stack";
import { until } from "../support/until";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** Waits for a mail to this address with this subject. */
function mailed(to: string, subject: string): Promise<unknown> {
  const all = () => readdirSync(stack.mailFolder).filter((name) => name.endsWith(".eml"));
  const isWanted = (name: string) => {
    const mail = readFileSync(join(stack.mailFolder, name), "utf8");
    return mail.includes(`To: ${to}`) && mail.includes(`Subject: ${subject}`);
  };
  return until(`“${subject}” to ${to}`, async () => all().some(isWanted) || undefined);
}

async function check({ page }: Visitor, name: string): Promise<void> {
  await settled(page);
  expect(await seriousFindings(page)).toEqual([]);
  expect(await overhang(page)).toBe(0);
  await screenshot(page, name);
}

test("all users of a suspended business see it on every page, and its owners get a mail", async () => {
  const [owner, viewer] = [
    await visit(browser, { viewport: DESKTOP }),
    await visit(browser, { viewport: PHONE }),
  ];
  const { id, email } = await newBusiness(owner, "Suspended shop");
  await confirmEmail(owner, email);
  const set = (status: string) => operator("PATCH", `/businesses/${id}`, { status });
  await set("active");
  const { email: invited } = someone("viewer");
  await ask(owner, "POST", "/invitations", { email: invited, role: "viewer" }, 201);
  await joinBy(viewer.page, await mailedLink(invited, "invitation"));

  await owner.page.goto("/");
  await heading(owner.page, "Overview");
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
  await check(owner, "suspended-overview");
  await check(viewer, "suspended-overview-phone");
  await mailed(email, "Your Waybill account was suspended");

  await goTo(owner.page, "Orders");
  await notices[0]?.waitFor();
  await viewer.page.goto("/subscription");
  await notices[1]?.waitFor();
  await check(viewer, "suspended-subscription-phone");

  await goTo(owner.page, "Overview");
  await set("active");
  await notices[0]?.waitFor({ state: "hidden" });
  await mailed(email, "The suspension of your Waybill account was lifted");
  expect(owner.errors.concat(viewer.errors)).toEqual([]);
  await owner.context.close();
  await viewer.context.close();
});
