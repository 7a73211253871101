import { Anchor } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { TimelineEntry } from "../../api/orders";
import type { Endpoint } from "../../api/webhooks";
import { NextAttempt } from "../../components/next-attempt";
import type { Tone } from "../../components/status-badge";
import { sentence } from "../../format/order-labels";
import { hostAndPath } from "../../format/url";
import { Item } from "./timeline-item";

export type WebhookEntry = Extract<TimelineEntry, { type: "webhook" }>;

interface WebhookItemProps {
  entry: WebhookEntry;
  isLinked: boolean;
  /** An earlier event of the order must reach the endpoint first. */
  waits: boolean;
  endpoints: Endpoint[] | undefined;
}

/** A webhook of the order to one endpoint. */
export function WebhookItem({ entry, isLinked, waits, endpoints }: WebhookItemProps) {
  const endpoint = endpoints?.find((one) => one.id === entry.endpointId);
  const { tone, text } = outcome(entry, waits, endpoint);
  return (
    <Item
      tone={tone}
      title={
        <>
          Webhook{" "}
          {isLinked ? (
            <Anchor component={Link} to={`/webhooks/deliveries/${entry.id}`} size="sm">
              {entry.event}
            </Anchor>
          ) : (
            entry.event
          )}
        </>
      }
      at={entry.recordedAt}
    >
      {text}
      {endpoints && (
        <div style={{ overflowWrap: "anywhere" }} title={endpoint?.url}>
          To {endpoint ? hostAndPath(endpoint.url) : "a deleted endpoint"}
        </div>
      )}
    </Item>
  );
}

function outcome(entry: WebhookEntry, waits: boolean, endpoint?: Endpoint): { tone: Tone; text: ReactNode } {
  const tries = entry.attempts === 1 ? "1 attempt" : `${entry.attempts} attempts`;
  switch (entry.state) {
    case "succeeded":
      return { tone: "good", text: `Received (HTTP ${entry.lastResponseStatus ?? "2xx"})` };
    case "failed":
      return { tone: "bad", text: `Not received after ${tries}: ${entry.lastError ?? "delivery failed"}` };
    case "discarded":
      return { tone: "warn", text: "Discarded" };
    case "parked":
      return { tone: "warn", text: "Held while the endpoint is disabled" };
    default:
      return pending(entry, waits, endpoint);
  }
}

function pending(entry: WebhookEntry, waits: boolean, endpoint?: Endpoint): { tone: Tone; text: ReactNode } {
  if (endpoint?.status === "paused") return { tone: "warn", text: "Waiting: the endpoint is paused" };
  if (waits) return { tone: "idle", text: "Waiting for an earlier event" };
  if (entry.attempts === 0) return { tone: "info", text: "Sending" };
  return {
    tone: "warn",
    text: (
      <>
        {sentence(entry.lastError ?? "delivery failed")}; next attempt{" "}
        <NextAttempt at={entry.nextAttemptAt} endpoint={endpoint} never="soon" />
      </>
    ),
  };
}

/** Whether an earlier event must reach the endpoint first. A delivery with its own attempt time waits for none. */
export function waitsBehind(entry: WebhookEntry, earlier: TimelineEntry[]): boolean {
  if (entry.state !== "pending" || entry.attempts > 0 || entry.nextAttemptAt) return false;
  return earlier.some(
    (other) =>
      other.type === "webhook" &&
      other.endpointId === entry.endpointId &&
      (other.state === "pending" || other.state === "parked"),
  );
}
