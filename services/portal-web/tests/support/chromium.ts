import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Uses the first of these that is installed. */
const PLACES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** Starts a Chromium, which ends with this process. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = PLACES.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path));
  if (!executablePath) throw new Error("there is no Chromium: `make test-pages` installs it");
  // Containers have no sandbox and little shared memory.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
