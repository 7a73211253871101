import type { Delivery, DeliveryState, Redelivery } from "../../api/webhook-log";
import type { Endpoint, TestResult } from "../../api/webhooks";
import { formatNumber } from "../../format/region";
import type { StatusLabel } from "../../format/status-label";

export const ENDPOINT_STATUSES: Record<Endpoint["status"], StatusLabel> = {
  active: { label: "Active", tone: "good" },
  failing: { label: "Failing", tone: "bad" },
  paused: { label: "Paused", tone: "warn" },
  disabled: { label: "Disabled", tone: "bad" },
};

const CONNECTION_TESTS: Record<Endpoint["connectionTest"], StatusLabel> = {
  not_tested: { label: "Not tested", tone: "idle" },
  passed: { label: "Passed", tone: "good" },
  failed: { label: "Failed", tone: "bad" },
};

/** Whether the receiver accepted a test event with a forged signature. Then anyone can post to it. */
export function acceptsForgeries({ forgedRefused }: Endpoint | TestResult): boolean {
  return forgedRefused === false;
}

export function connectionTestLabel(endpoint: Endpoint): StatusLabel {
  if (acceptsForgeries(endpoint)) return { label: "Accepts forged signatures", tone: "bad" };
  return CONNECTION_TESTS[endpoint.connectionTest];
}

export const DELIVERY_STATES: Record<DeliveryState, StatusLabel> = {
  pending: { label: "Pending", tone: "info" },
  succeeded: { label: "Succeeded", tone: "good" },
  failed: { label: "Failed", tone: "bad" },
  discarded: { label: "Discarded", tone: "idle" },
  parked: { label: "Held", tone: "warn" },
};

/** A pending delivery with a failed attempt is shown as “Retrying”. */
export function deliveryLabel(delivery: Pick<Delivery, "status" | "attempts">): StatusLabel {
  if (delivery.status === "pending" && delivery.attempts > 0) return { label: "Retrying", tone: "warn" };
  return DELIVERY_STATES[delivery.status];
}

export const REDELIVERIES: Record<Redelivery, string> = {
  queued: "Queued. It is sent in a moment.",
  brought_forward: "The next attempt is made now.",
  under_way: "It is being sent. It is sent again after that.",
  waits_its_turn: "An earlier event of its order is sent first. This one follows automatically.",
};

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}
