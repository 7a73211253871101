import AxeBuilder from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { until } from "./until";

/** All that a change of the colours alone can break. */
export const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** A script that does nothing. */
const NOTHING = "0";

/**
 * The serious findings of axe, each as rule, impact and elements. `within` limits them to a part of the page, `rules` to
 * some rules; `without` leaves rules out.
 */
export async function seriousFindings(
  page: Page,
  only: { within?: string; rules?: string[]; without?: string[] } = {},
): Promise<string[]> {
  // A page that has axe already, as when a dialog has opened in it, need not read its half megabyte again.
  const hasAxe = await page.evaluate(() => "axe" in window);
  // Its other mode opens a page of its own each time, for frames from elsewhere: there are none.
  const axe = new AxeBuilder(hasAxe ? { page, axeSource: NOTHING } : { page }).setLegacyMode();
  // What is in order need not be described.
  axe.options({ resultTypes: ["violations"] });
  if (only.within) axe.include(only.within);
  if (only.rules) axe.withRules(only.rules);
  if (only.without) axe.disableRules(only.without);
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, impact, nodes }) =>
        `${id} (${impact}): ${nodes.map((node) => node.target.join(" ")).join(", ")}`,
    );
}

/** By how many pixels the page is wider than its window. */
export function overhang(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** Nothing is on its way, nothing fades in any more: colours are what they are meant to be. */
export async function settled(page: Page): Promise<void> {
  await until("the page has settled", () =>
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
    }),
  );
}

/** By day or by night, as the system says. */
export async function light(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
  await settled(page);
}

/** Sums the layout shifts of what is loaded from now on, as browsers count them: without what follows an input. */
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

/** Goes on by the Tab key until this is in focus, as somebody without a pointer does. */
export async function tabTo(
  page: Page,
  role: "link" | "button" | "textbox" | "menuitem",
  name: string,
): Promise<void> {
  const wanted = page.getByRole(role, { name, exact: true });
  await wanted.first().waitFor();
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    const there = await wanted.evaluateAll((all) => all.some((one) => one === document.activeElement));
    if (there) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${role} “${name}” is not reached by ${TABS_MAX} presses of Tab`);
}

const TABS_MAX = 60;
