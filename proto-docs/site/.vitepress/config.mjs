import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

const PAGES = new URL("../.pages/", import.meta.url);
const sidebar = JSON.parse(readFileSync(new URL(".sidebars.json", PAGES), "utf8"));
const BASE = "/docs/";

/** As GitHub does, where the guides are read too; without the word for the operator's name. */
const slugify = (title) =>
  title
    .replace("OPERATORBRAND ", "")
    .toLowerCase()
    .replaceAll(" ", "-")
    .replace(/[^\p{L}\p{N}_-]/gu, "");

/** VitePress has these scripts in each page. The content security policy allows files only. */
export const EARLY = /<script id="check-(?:dark-mode|mac-os)">(.*?)<\/script>/gs;

export default defineConfig({
  srcDir: ".pages",
  srcExclude: ["public/**"],
  outDir: "dist",
  base: BASE,
  lang: "en",
  title: "OPERATORBRAND",
  titleTemplate: ":title · OPERATORBRAND",
  description: "Create deliveries for confirmed orders, track them, and receive signed webhooks about them.",
  cleanUrls: true,
  // Part of each page otherwise, as a script that the policy refuses.
  metaChunk: true,
  lastUpdated: false,
  // The words of the address, the portal and the colour are those that order-api replaces.
  head: [
    ["link", { rel: "icon", href: "data:," }],
    ["style", {}, ":root{--operator-color:#0d0e0f}"],
    ["noscript", {}, "<style>.VPNavBarSearch,.Languages,button.copy{display:none!important}</style>"],
  ],
  transformHtml: (html) =>
    html.replace(EARLY, "").replace("<head>", `<head><script src="${BASE}early.js"></script>`),
  markdown: {
    anchor: { slugify },
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    toc: { slugify },
  },
  themeConfig: {
    nav: [
      {
        text: "Guides",
        link: "/first-order",
        activeMatch: "^/(?!reference|errors|operators|runbooks|developers|architecture|decisions).",
      },
      { text: "API reference", link: "/reference/create-order", activeMatch: "^/(reference|errors)/" },
      { text: "Operators", link: "/operators/going-live", activeMatch: "^/(operators|runbooks)/" },
      { text: "Developers", link: "/architecture/", activeMatch: "^/(developers|architecture|decisions)/" },
      { text: "Portal", link: "https://portal.delivery.example/", target: "_self", rel: "" },
    ],
    sidebar,
    outline: [2, 3],
    socialLinks: [],
    search: {
      provider: "local",
      options: {
        // Pages that are left out are not rendered a second time.
        _render: (source, env, md) => (source.includes('"search":false') ? "" : md.render(source, env)),
      },
    },
  },
});
