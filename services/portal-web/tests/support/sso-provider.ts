import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Page } from "@playwright/test";
import { stack } from "./stack";
import { expect } from "./test";

/** A running `identity-provider.mjs`. */
export interface IdentityProvider {
  issuer: string;
  stop: () => void;
}

/** Port 0 is any free port. `logInPages` are those of businesses. */
export async function startProvider(port: string, ...logInPages: string[]): Promise<IdentityProvider> {
  const script = new URL("identity-provider.mjs", import.meta.url).pathname;
  const provider = spawn(process.execPath, [script, port, stack.console, ...logInPages], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const [line] = await once(provider.stdout, "data");
  return { issuer: String(line).trim(), stop: () => provider.kill() };
}

/** Fills in the provider's pages: log-in, then consent. */
export async function authenticate(page: Page, name: string): Promise<void> {
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  const consent = page.getByRole("button", { name: "Continue" });
  await expect(consent.or(page.locator("#main, main")).first()).toBeVisible();
  if (await consent.isVisible()) await consent.click();
}
