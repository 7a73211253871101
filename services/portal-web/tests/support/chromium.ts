// Starts the one Chromium that all test files share.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

/** Uses the first of these that is installed. */
const PLACES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the shared Chromium. */
    chromium: string;
  }
}

export default async function start(project: TestProject) {
  const executablePath = PLACES.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path));
  if (!executablePath) throw new Error("there is no Chromium: `make test-pages` installs it");
  // Containers have no sandbox and little shared memory.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  const server = await chromium.launchServer({ executablePath, args });
  project.provide("chromium", server.wsEndpoint());
  return () => server.close();
}
