import type { ApiKey } from "../../api/types";
import type { StatusLabel } from "../../format/status-label";

/** A key's state: it works, works until its grace period ends, or no longer works. */
export function keyState(key: ApiKey, now = Date.now()): StatusLabel & { works: boolean } {
  if (key.revokedAt) return { tone: "idle", label: "Revoked", works: false };
  if (!key.expiresAt) return { tone: "good", label: "Active", works: true };
  if (Date.parse(key.expiresAt) <= now) return { tone: "idle", label: "Expired", works: false };
  return { tone: "warn", label: "Expiring", works: true };
}

/** A key as shown after its creation: prefix and last four characters. */
export function maskedKey(key: Pick<ApiKey, "prefix" | "lastFour">): string {
  return `${key.prefix}…${key.lastFour}`;
}
