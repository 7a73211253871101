import type { ApiKey } from "../../api/types";
import type { StatusLabel } from "../../format/status-label";

/** From this time before its end on, a key is shown as expiring. */
const EXPIRING_MS = 7 * 24 * 3_600_000;

/** A key's state: it works, will expire soon, or no longer works. */
export function keyState(key: ApiKey, now = Date.now()): StatusLabel & { works: boolean } {
  const end = key.expiresAt ? Date.parse(key.expiresAt) : Number.POSITIVE_INFINITY;
  // A key is also revoked when it expires.
  const isRevoked = key.revokedAt && Date.parse(key.revokedAt) < end;
  if (isRevoked) return { tone: "idle", label: "Revoked", works: false };
  if (key.revokedAt || end <= now) return { tone: "idle", label: "Expired", works: false };
  const isExpiring = isReplaced(key) || end - now < EXPIRING_MS;
  return isExpiring
    ? { tone: "warn", label: "Expiring", works: true }
    : { tone: "good", label: "Active", works: true };
}

/** Whether the key was rotated: it cannot be rotated again. The previous release sets an expiry for such keys only. */
export function isReplaced(key: ApiKey): boolean {
  return key.inGracePeriod ?? Boolean(key.expiresAt);
}

/** A key as shown after its creation: prefix and last four characters. */
export function maskedKey(key: Pick<ApiKey, "prefix" | "lastFour">): string {
  return `${key.prefix}…${key.lastFour}`;
}
