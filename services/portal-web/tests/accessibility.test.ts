// Accessibility of every page and its main dialogs: on a desktop and a phone, in light and dark colours.

import type { Page } from "@playwright/test";
import { operator, placeOrder } from "./support/api";
import {
  ask,
  type Business,
  listedWebhook,
  logInAsOperator,
  newBusiness,
  newTestKey,
  openLive,
  type Session,
} from "./support/business";
import { COLOUR_RULES, overhang, seriousFindings, setColorScheme, settled } from "./support/page-checks";
import { follow, heading } from "./support/pages";
import { Receiver } from "./support/receiver";
import { DESKTOP, expect, keepsScreenshots, PHONE, screenshot, test } from "./support/test";

const SIZES = [
  { size: "desk", viewport: DESKTOP },
  { size: "phone", viewport: PHONE },
] as const;

/** Each test checks dozens of pages and dialogs. */
const TIMEOUT_MS = 300_000;
const LONG_REFERENCE = "a-reference-that-is-as-long-as-shops-make-them-2026-11-21-000001";
const NOT_FOUND = "Page not found";

/** A page, and the buttons that open its dialogs. */
interface Stop {
  name: string;
  path: string;
  heading: string;
  dialogs?: (string | RegExp)[];
}

let receiver: Receiver;
let business: Business;
let session: Session;
let stops: Stop[];
let resetLink: string;

test.beforeAll(async ({ request }) => {
  receiver = await Receiver.start();
  const owner = { request };
  business = await newBusiness(owner, "Everybody & Sons, makers of remarkably long names");
  const liveKey = await openLive(owner, business);
  const testKey = await newTestKey(owner);
  const endpoint = await ask(
    owner,
    "POST",
    "/webhook-endpoints",
    { url: `${receiver.url}/${"long/".repeat(20)}` },
    201,
  );
  receiver.secret = String(endpoint.secret);
  const order = await placeOrder(testKey, LONG_REFERENCE);
  await placeOrder(liveKey, "everybody-live");
  await listedWebhook(owner, endpoint.id, LONG_REFERENCE);
  const delivery = await listedWebhook(owner, endpoint.id, "everybody-live");
  const issued = await operator(
    "POST",
    `/businesses/${business.id}/password-resets`,
    { email: business.email },
    201,
  );
  resetLink = issued.url;
  session = await request.storageState();
  stops = [
    { name: "overview", path: "/", heading: "Overview" },
    {
      name: "quick-start",
      path: "/quick-start",
      heading: "Quick start",
      dialogs: ["Create another Test key"],
    },
    { name: "orders", path: "/orders?mode=test", heading: "Orders" },
    { name: "orders-live", path: "/orders?mode=live", heading: "Orders" },
    {
      name: "order",
      path: `/orders/${order.id}`,
      heading: LONG_REFERENCE,
      dialogs: ["Cancel order"],
    },
    { name: "order-developers", path: `/orders/${order.id}?tab=developers`, heading: LONG_REFERENCE },
    {
      name: "api-keys",
      path: "/api-keys",
      heading: "API keys",
      dialogs: ["Create key", /^Rotate /, /^Revoke /],
    },
    { name: "events", path: "/events", heading: "Events" },
    { name: "exceptions", path: "/exceptions", heading: "Needs attention" },
    { name: "exports", path: "/exports", heading: "Exports" },
    { name: "webhooks", path: "/webhooks", heading: "Webhooks" },
    { name: "webhook-new", path: "/webhooks/new", heading: "Add an endpoint" },
    ...["deliveries", "recover", "signatures", "settings"].map((tab) => ({
      name: `webhook-${tab}`,
      path: `/webhooks/${endpoint.id}?tab=${tab}`,
      heading: String(endpoint.url),
      dialogs: tab === "settings" ? ["Rotate secret", "Delete endpoint"] : [],
    })),
    { name: "webhook-delivery", path: `/webhooks/deliveries/${delivery}`, heading: "order.created" },
    { name: "wallet", path: "/wallet", heading: "Wallet", dialogs: ["Top up", "Change warning"] },
    { name: "cash", path: "/cash-on-delivery", heading: "Cash on delivery" },
    { name: "subscription", path: "/subscription", heading: "Subscription" },
    { name: "pickup-profile", path: "/pickup-profile", heading: "Pickup profile" },
    { name: "account", path: "/account", heading: "Account", dialogs: ["Change e-mail address"] },
    { name: "account-team", path: "/account/team", heading: "Account", dialogs: ["Invite"] },
    { name: "account-single-sign-on", path: "/account/single-sign-on", heading: "Account" },
    { name: "account-audit-log", path: "/account/audit-log", heading: "Account" },
    { name: "account-closing", path: "/account/closing", heading: "Account", dialogs: ["Close business"] },
    { name: "not-found", path: "/nowhere", heading: NOT_FOUND },
  ];
});
test.afterAll(async () => {
  await receiver.stop();
});

const GUEST_STOPS: Stop[] = [
  { name: "log-in", path: "/log-in", heading: "Log in" },
  { name: "sign-up", path: "/sign-up", heading: "Create your account" },
  { name: "reset-password", path: "/reset-password", heading: "Reset your password" },
  { name: "reset-link-spent", path: "/reset-password#token=none", heading: "This link cannot be used" },
  { name: "confirm-email", path: "/confirm-email#token=none", heading: "Confirm your e-mail address" },
  { name: "invitation", path: "/invitation#token=none", heading: "This invitation cannot be used" },
  { name: "operator-log-in", path: "/operator", heading: "Operator console" },
  { name: "operator-link", path: "/operator/password#token=none", heading: "This link cannot be used" },
];

test.describe.configure({ timeout: TIMEOUT_MS });

test("pages before the log-in", async ({ page }) => {
  const open = { name: "reset-link", path: resetLink, heading: "Choose a new password" };
  expect(await findings(page, [...GUEST_STOPS, open])).toEqual([]);
});

test("pages of a business", async ({ visit }) => {
  const page = await visit({ storageState: session });
  expect(await findings(page, stops)).toEqual([]);
});

test("pages of the operator", async ({ page }) => {
  await logInAsOperator(page);
  const path = `/operator/businesses/${business.id}`;
  const ofOperator: Stop[] = [
    { name: "operator-overview", path: "/operator/overview", heading: "Overview" },
    { name: "operator-businesses", path: "/operator/businesses", heading: "Businesses" },
    { name: "operator-business", path, heading: business.name, dialogs: ["Suspend", "Credit wallet"] },
    { name: "operator-health", path: `${path}?tab=health`, heading: business.name },
    ...["orders", "cash", "approvals", "closing"].map((tab) => ({
      name: `operator-business-${tab}`,
      path: `${path}?tab=${tab}`,
      heading: business.name,
    })),
    { name: "operator-users", path: `${path}?tab=users`, heading: business.name },
    { name: "operator-audit-log", path: `${path}?tab=audit-log`, heading: business.name },
    { name: "operator-order", path: "/operator/orders?search=everybody-live", heading: "Find an order" },
    { name: "operator-exceptions", path: "/operator/exceptions", heading: "Needs attention" },
    { name: "operator-cash", path: "/operator/cash", heading: "Cash on delivery" },
    {
      name: "operator-business-cash",
      path: `/operator/cash/${business.id}`,
      heading: `Cash of ${business.name}`,
    },
    { name: "operator-exports", path: "/operator/exports", heading: "Exports" },
    { name: "operator-approvals", path: "/operator/approvals", heading: "Approvals" },
    { name: "operator-staff", path: "/operator/staff", heading: "Staff", dialogs: ["Invite"] },
    { name: "operator-tokens", path: "/operator/tokens", heading: "Tokens", dialogs: ["Create token"] },
    { name: "operator-own-log", path: "/operator/audit-log", heading: "Audit log" },
  ];
  expect(await findings(page, ofOperator)).toEqual([]);
});

test("pages while they load", async ({ visit }) => {
  const found: string[] = [];
  const [owner, staff] = [await visit({ storageState: session }), await visit()];
  await logInAsOperator(staff);
  const path = `/operator/businesses/${business.id}`;
  const ofOperator = [
    "/operator",
    path,
    `${path}?tab=health`,
    `${path}?tab=users`,
    "/operator/approvals/apr_1",
  ];
  for (const [page, paths] of [
    [owner, stops.map((stop) => stop.path).filter((path) => path !== "/nowhere")],
    [staff, [...ofOperator, "/operator/orders?search=everybody-live"]],
  ] as const) {
    // All that a page shows of a business never arrives.
    await page.route(/\/v1\/(portal|operator)\/(?!session$|config$)/, () => undefined);
    await page.goto(page === staff ? "/operator/nowhere" : "/nowhere");
    for (const path of paths) {
      await leave(page);
      await follow(page, path);
      await expect(page.getByRole("heading", { level: 1, name: NOT_FOUND })).toHaveCount(0);
      await expect(page.locator("h1, .mantine-Skeleton-root, .mantine-Loader-root").first()).toBeVisible();
      for (const finding of await seriousFindings(page, { without: COLOUR_RULES }))
        found.push(`${path}: ${finding}`);
    }
    await screenshot(page, "loading");
  }
  expect(found).toEqual([]);
});

/** Goes to a page that loads nothing: once its heading is gone, the next page is there. */
async function leave(page: Page): Promise<void> {
  await follow(page, page.url().includes("/operator/") ? "/operator/nowhere" : "/nowhere");
  await heading(page, NOT_FOUND);
}

/** The problems of these pages and of their dialogs, in both sizes. */
async function findings(page: Page, stops: Stop[]): Promise<string[]> {
  const found: string[] = [];
  let scheme: "light" | "dark" = "light";
  let shown = "";
  // The next page starts in this size, so each page switches once.
  const sizes = [...SIZES];
  for (const stop of stops) {
    // Within the loaded portal.
    const isFollowed = shown !== "" && !stop.path.includes("#");
    // The heading could still be that of the page before.
    if (isFollowed && stop.heading === shown) await leave(page);
    await (isFollowed ? follow(page, stop.path) : page.goto(stop.path));
    await heading(page, stop.heading);
    shown = stop.heading;
    for (const { size, viewport } of sizes) {
      await page.setViewportSize(viewport);
      await check(stop.name, size);
      for (const opener of stop.dialogs ?? []) {
        await page.getByRole("main").getByRole("button", { name: opener }).first().click();
        const dialog = page.getByRole("dialog");
        await expect(dialog).toBeVisible();
        // The page behind the dialog is already checked.
        await check(
          `${stop.name}-${String(opener).replace(/\W+/g, "-").toLowerCase()}`,
          size,
          "[role=dialog]",
        );
        await page.keyboard.press("Escape");
        await expect(dialog).toBeHidden();
      }
    }
    sizes.reverse();
  }
  return found;

  async function check(name: string, size: string, within?: string) {
    await settled(page);
    // Both sizes have the same colours, so one size is enough.
    const colours = size === "desk";
    await screenshot(page, `${size}-${scheme}-${name}`);
    for (const finding of await seriousFindings(page, { within, without: colours ? [] : COLOUR_RULES }))
      found.push(`${name}, ${size}, ${scheme}: ${finding}`);
    const pixels = await overhang(page);
    if (pixels > 0) found.push(`${name}, ${size}: ${pixels} pixels wider than the window`);
    if (!colours && !keepsScreenshots) return;
    // The next check starts in this colour scheme, so each check switches once.
    scheme = scheme === "light" ? "dark" : "light";
    await setColorScheme(page, scheme);
    await screenshot(page, `${size}-${scheme}-${name}`);
    if (!colours) return;
    const ofColours = await seriousFindings(page, { within, rules: COLOUR_RULES });
    for (const finding of ofColours) found.push(`${name}, ${size}, ${scheme}: ${finding}`);
  }
}
