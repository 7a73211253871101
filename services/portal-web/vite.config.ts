import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The addresses of the running local stack. */
const STACK = fileURLToPath(new URL("../../target/local-stack/stack.json", import.meta.url));

/** The portal-api that the development server proxies to. */
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

/** portal-api accepts writes from its own origin only, so the proxy sets it. */
function proxyTo(target: string) {
  return { target, changeOrigin: true, headers: { origin: new URL(target).origin } };
}
