// Starts the one Chromium that all test files share.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

declare module "vitest" {
  interface ProvidedContext {
    /** Where it listens. */
    chromium: string;
  }
}

export default async function start(project: TestProject) {
  const executablePath = PLACES.find((place) => existsSync(place));
  if (!executablePath) throw new Error("there is no Chromium: `make test-pages` installs it");
  // In containers there is neither a sandbox nor much shared memory.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  const server = await chromium.launchServer({ executablePath, args });
  project.provide("chromium", server.wsEndpoint());
  return () => server.close();
}
