import type { Endpoint } from "../api/webhooks";
import { Time } from "./time";

interface NextAttemptProps {
  /** When the webhook is due; absent if it only waits. */
  at: string | null | undefined;
  endpoint: Endpoint | undefined;
  /** What to show without a time. */
  never?: string;
}

/** When a pending webhook is sent. Its endpoint may hold back what is due. */
export function NextAttempt({ at, endpoint, never }: NextAttemptProps) {
  if (endpoint?.status === "paused") return "when the endpoint is resumed";
  if (endpoint?.status === "disabled") return "when the endpoint is enabled";
  return <Time at={later(at, endpoint?.trouble?.restingUntil)} upcoming never={never} />;
}

function later(at: string | null | undefined, other: string | null | undefined) {
  if (!at || !other) return at || other;
  return Date.parse(at) < Date.parse(other) ? other : at;
}
