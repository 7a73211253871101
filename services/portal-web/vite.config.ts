import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Where a running local stack wrote down its addresses. */
const STACK = fileURLToPath(new URL("../../target/local-stack/stack.json", import.meta.url));

/** The portal-api that the development server passes calls on to. */
function portalApi(): string {
  if (process.env.PORTAL_API) return process.env.PORTAL_API;
  if (existsSync(STACK)) return JSON.parse(readFileSync(STACK, "utf8")).portalApi;
  return "http://127.0.0.1:8080";
}

export default defineConfig(({ command }) => ({
  plugins: [react()],
  build: {
    target: "es2022",
    // Data URLs would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
  },
  server: command === "serve" ? { proxy: { "/v1": proxyTo(portalApi()) } } : {},
}));

/** Writing calls must come from the portal's own origin; in development that is the proxy's. */
function proxyTo(target: string) {
  return { target, changeOrigin: true, headers: { origin: new URL(target).origin } };
}
