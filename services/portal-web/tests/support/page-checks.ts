import type { Locator, Page } from "@playwright/test";
import axe from "axe-core";
import { DESKTOP, expect, PHONE, screenshot } from "./test";

/** The rules that only a colour change can break. */
export const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** A name that lacks the visible words: people who speak to their computer cannot say it. Experimental, so off by default. */
const NAME_RULE = { "label-content-name-mismatch": { enabled: true } };

/** Rules that look at most elements, and whose findings are minor or moderate. */
const NEVER_SERIOUS = [
  "aria-allowed-role",
  "aria-deprecated-role",
  "heading-order",
  "landmark-unique",
  "presentation-role-conflict",
  "region",
];

function off(rules: string[]) {
  return Object.fromEntries(rules.map((rule) => [rule, { enabled: false }]));
}

/**
 * The serious findings of axe, each with rule, impact and elements. `within` limits the check to a part of the page,
 * `rules` to some rules; `without` excludes rules.
 */
export async function seriousFindings(
  page: Page,
  only: { within?: string; rules?: string[]; without?: string[] } = {},
): Promise<string[]> {
  // A page that already has axe, for example before its dialog opened, does not load it again.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const options: axe.RunOptions = {
    // Passed rules need no description.
    resultTypes: ["violations"],
    rules: { ...NAME_RULE, ...off([...NEVER_SERIOUS, ...(only.without ?? [])]) },
  };
  if (only.rules) options.runOnly = { type: "rule", values: only.rules };
  return page.evaluate(
    async ({ within, options }) => {
      const { axe: loaded } = window as unknown as { axe: typeof axe };
      const { violations } = await loaded.run(within ?? document, options);
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(
          ({ id, impact, nodes }) =>
            `${id} (${impact}): ${nodes.map((node) => node.target.join(" ")).join(", ")}`,
        );
    },
    { within: only.within, options },
  );
}

const MODAL = "[role=dialog][aria-modal=true]";

/**
 * The page as it is now is accessible, and fits its window, or a phone and a desktop. Of a page behind a dialog, only the
 * dialog is checked. `isWaiting` skips waiting for what loads, for example a form behind a question. Stores a picture of
 * each size.
 */
export async function check(
  page: Page,
  name: string,
  { bothSizes = false, isWaiting = false } = {},
): Promise<void> {
  const given = page.viewportSize() ?? DESKTOP;
  const sizes = bothSizes ? [PHONE, DESKTOP] : [given];
  for (const [index, size] of sizes.entries()) {
    await page.setViewportSize(size);
    if (!isWaiting) await settled(page);
    const isModal = (await page.locator(MODAL).filter({ visible: true }).count()) > 0;
    // Both sizes have the same colours.
    const without = index > 0 ? COLOUR_RULES : [];
    expect(await seriousFindings(page, isModal ? { within: MODAL, without } : { without })).toEqual([]);
    expect(await overhang(page)).toBe(0);
    await screenshot(page, bothSizes ? `${name}-${size.width}` : name);
  }
  if (bothSizes) await page.setViewportSize(given);
}

/** The pages' longest pause between two polls of a log. */
const POLL_MS = 10_000;

/** Lets the page poll until it shows this. `page.clock` is installed before the page loads. */
export async function polled(page: Page, wanted: Locator): Promise<void> {
  await expect(async () => {
    await page.clock.fastForward(POLL_MS);
    await expect(wanted).toBeVisible({ timeout: 1_000 });
  }).toPass();
}

/** The number of pixels by which the page is wider than its window. */
export function overhang(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** Waits until nothing loads or fades, so that the colours are final. */
export async function settled(page: Page): Promise<void> {
  const look = () =>
    page.evaluate(async () => {
      for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
      const isMoving = document.getAnimations().some((animation) => {
        const { iterations } = animation.effect?.getTiming() ?? {};
        return animation.playState === "running" && iterations !== Number.POSITIVE_INFINITY;
      });
      const isLoading = document.querySelector(
        "[aria-busy=true], .mantine-Skeleton-root, .mantine-Loader-root",
      );
      return !isMoving && !isLoading && document.readyState === "complete";
    });
  await expect.poll(look, { message: "the page has settled", intervals: [50] }).toBe(true);
}

/** Switches the system's colour scheme. */
export async function setColorScheme(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await expect(page.locator(`html[data-mantine-color-scheme=${colorScheme}]`)).toBeVisible();
  await settled(page);
}

/** Sums the layout shifts of pages loaded from now on, as browsers count them: without shifts after an input. */
export async function watchShifts(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const counted = window as unknown as { shifted: number };
    counted.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[]) {
        if (!entry.hadRecentInput) counted.shifted += entry.value;
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  return () => page.evaluate(() => (window as unknown as { shifted: number }).shifted);
}

/** Presses Tab until this element has the focus. */
export async function tabTo(
  page: Page,
  role: "link" | "button" | "textbox" | "menuitem",
  name: string,
): Promise<void> {
  const wanted = page.getByRole(role, { name, exact: true });
  await expect(wanted.first()).toBeVisible();
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    const there = await wanted.evaluateAll((all) => all.some((one) => one === document.activeElement));
    if (there) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${role} “${name}” is not reached after ${TABS_MAX} presses of Tab`);
}

const TABS_MAX = 60;
