// Turns Markdown of the repository into pages: links lead to pages, sections for one language become tabs, and values that
// an installation chooses become words that order-api replaces.
import { dirname, join, normalize } from "node:path";
import { SOURCES } from "./outline.mjs";
import { powershellOf } from "./powershell.mjs";

/** As in `proto-docs/clients/guides/blocks.py`. */
const LANGUAGES = ["curl", "TypeScript", "Python", "Rust"];

/** A section of its own, which the build writes: see `withPowerShell`. */
const POWERSHELL = "PowerShell";

/** Applies `change` to the text outside of blocks and spans of code. */
export function outsideOfCode(text, change) {
  let fence = null;
  const lines = text.split("\n").map((line) => {
    const mark = line.match(/^\s*(```+)/)?.[1];
    if (mark && (fence === null || fence === mark)) {
      fence = fence === null ? mark : null;
      return line;
    }
    if (fence !== null) return line;
    return line
      .split(/(`+[^`]*`+)/)
      .map((part, at) => (at % 2 ? part : change(part)))
      .join("");
  });
  return lines.join("\n");
}

/** The words that order-api replaces by the values of an installation (`services/order-api/src/routes/docs/site.rs`). */
export function withPlaceholders(text) {
  return text
    .replace(/\bService-(?=Timestamp|Signature|Event-Id|Mode)/g, "OPERATORPREFIX-")
    .replace(/\bservice-(?=timestamp|signature|event-id|mode)/g, "operatorprefix-")
    .replaceAll("`Service`", "`OPERATORPREFIX`")
    .replaceAll("https://delivery.example", "https://api.delivery.example");
}

/** Vue reads neither tags nor braces in prose. */
const escaped = (text) =>
  outsideOfCode(text, (part) => part.replace(/<(?=[A-Za-z/!])/g, "&lt;").replaceAll("{{", "&#123;&#123;"));

/** `../SETTINGS.md#webhooks` is `/operators/settings#webhooks`. Files that are no pages keep their name only. */
function linked(text, source) {
  const blocks = text.split(/(^```[\s\S]*?^```$)/m);
  return blocks.map((part, at) => (at % 2 ? part : linkedProse(part, source))).join("");
}

function linkedProse(text, source) {
  return text.replace(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (whole, label, target) => {
    if (/^(https?:|mailto:|#|\/)/.test(target)) return whole;
    const [file, anchor] = target.split("#");
    const found = normalize(join(dirname(source), file)).replace(/\/$/, "");
    const page = SOURCES.find((one) => one.source === found || one.source === `${found}/README.md`);
    if (!page) return `${label} (\`${found}\`)`;
    return `[${label}](/${page.path}${anchor ? `#${anchor}` : ""})`;
  });
}

/** Of a page that begins with the variables: its call with curl also in PowerShell, as the last of the languages. */
export function withPowerShell(text) {
  const exports = text.match(/^```sh\n((?:export \w+='.*'\n)+)```$/m)?.[1];
  if (!exports) return text;
  return text.replace(
    /^## curl\n\n```sh\n([^`]*)```\n[\s\S]*?(?=^## (?!TypeScript|Python|Rust))/m,
    (sections, curl) =>
      `${sections}## ${POWERSHELL}\n\n\`\`\`powershell\n${powershellOf(exports)}${powershellOf(curl)}\`\`\`\n\n`,
  );
}

/** The heading of each line, or null; lines of code are none. */
function headings(lines) {
  let isCode = false;
  return lines.map((line) => {
    if (line.startsWith("```")) isCode = !isCode;
    const found = isCode ? null : line.match(/^(#+) (.*)$/);
    if (!found) return null;
    const isPowerShell = found[2] === POWERSHELL;
    const language = LANGUAGES.find((name) => new RegExp(`\\b${name}\\b`).test(found[2]));
    return { level: found[1].length, language: isPowerShell ? POWERSHELL : language };
  });
}

/** Neighbouring sections, each for one language, become tabs. The page's title is none. */
function withTabs(text) {
  const lines = text.split("\n");
  const all = headings(lines);
  const out = [];
  let group = null;
  const endSection = () => out.push("", "</div>", "");
  const endGroup = () => {
    if (!group) return;
    endSection();
    const opening = tabsOf(group.languages);
    out[group.at] = opening;
    out.push("</div>", "");
    group = null;
  };
  lines.forEach((line, at) => {
    const heading = all[at];
    if (heading && heading.level > 1) {
      const continues = group && heading.language && heading.level === group.level;
      if (continues) {
        endSection();
        group.languages.push(heading.language);
      } else if (group && heading.level <= group.level) {
        endGroup();
      }
      if (heading.language && !group) {
        group = { at: out.length, level: heading.level, languages: [heading.language] };
        out.push("");
      }
      if (heading.language && group.level === heading.level) {
        out.push(`<div class="language" data-language="${heading.language}">`, "");
      }
    }
    out.push(line);
  });
  endGroup();
  return out.join("\n");
}

export const tabsOf = (languages) =>
  `<div class="languages" data-has="${languages.join(" ")}">\n\n<Languages has="${languages.join(" ")}" />\n`;

/** Code in several languages: `[["curl", "sh", "curl …"]]`. */
export const codeTabs = (samples) =>
  [
    tabsOf(samples.map(([language]) => language)),
    ...samples.map(
      ([language, fence, code]) =>
        `<div class="language" data-language="${language}">\n\n\`\`\`${fence}\n${code}\n\`\`\`\n\n</div>\n`,
    ),
    "</div>\n",
  ].join("\n");

/** Addresses that only order-api serves are no pages of the site. */
const served = (text) => text.replace(/\]\((\/docs\/[^)]*|\/v1\/openapi\.json)\)/g, ']($1){target="_self"}');

/** Texts of our own keep their tags. */
export const asPage = (text, source, isOurs = false) =>
  served(withTabs(linked(withPlaceholders(isOurs ? text : escaped(text)), source)));
/** The same for programs. */
export const asPlain = (text, source) => linked(withPlaceholders(text), source);
