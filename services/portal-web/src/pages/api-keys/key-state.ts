import type { ApiKey } from "../../api/types";
import type { Words } from "../../format/words";

/** A key as it stands: it works, works until its grace ends, or does not work any more. */
export function keyState(key: ApiKey, now = Date.now()): Words & { works: boolean } {
  if (key.revokedAt) return { tone: "idle", label: "Revoked", works: false };
  if (!key.expiresAt) return { tone: "good", label: "Active", works: true };
  if (Date.parse(key.expiresAt) <= now) return { tone: "idle", label: "Expired", works: false };
  return { tone: "warn", label: "Being replaced", works: true };
}

/** As a key may be shown at any time: its prefix and last four characters. */
export function maskedKey(key: Pick<ApiKey, "prefix" | "lastFour">): string {
  return `${key.prefix}…${key.lastFour}`;
}
