import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@playwright/test";
import { stack } from "./stack";

type LinkedPage = "confirm-email" | "invitation" | "reset-password";

/** The latest link to a page in the mails to an address, which the stack writes to a folder. */
export async function mailedLink(email: string, page: LinkedPage): Promise<string> {
  const latest = () => mailedLinks(email, page).at(-1);
  // The service sends it at once.
  const message = `a mail for ${email} with a link to ${page}`;
  await expect.poll(latest, { message, intervals: [25] }).toBeDefined();
  return String(latest());
}

/** All links to a page in the mails to an address, oldest first. */
export function mailedLinks(email: string, page: LinkedPage): string[] {
  // The first mail creates the folder.
  const names = existsSync(stack.mailFolder) ? readdirSync(stack.mailFolder) : [];
  const links = names
    .filter((name) => name.endsWith(".eml"))
    .sort()
    // A quoted-printable mail breaks long lines and writes `=` as `=3D`.
    .map((name) =>
      readFileSync(join(stack.mailFolder, name), "utf8")
        .replace(/=\r?\n/g, "")
        .replace(/=3D/g, "="),
    )
    .filter((mail) => mail.split(/\r?\n/).includes(`To: ${email}`))
    .map((mail) => mail.match(new RegExp(`https?:\\S+/${page}#token=[\\w-]+`))?.[0]);
  return links.filter((link) => link !== undefined);
}
