import { Fragment, type ReactNode } from "react";
import type { TimelineEntry } from "../../api/orders";
import { Money } from "../../components/money";
import { eventLabel } from "../../format/event-labels";
import { DELIVERY_STATUSES, sentence } from "../../format/order-labels";
import { formatDate } from "../../format/time";
import classes from "./timeline.module.css";
import { Item } from "./timeline-item";
import { type Timeline, TimelineSection } from "./timeline-section";

export type StatusEntry = Extract<TimelineEntry, { type: "status" }>;

export function statusEntries(rows: TimelineEntry[]): StatusEntry[] {
  return rows.filter((entry): entry is StatusEntry => entry.type === "status");
}

/** What happened to the parcel and its cash, oldest first. */
export function OrderTimeline({ timeline }: { timeline: Timeline }) {
  const entries = statusEntries(timeline.rows);
  return (
    <TimelineSection title="Timeline" timeline={timeline} empty="Nothing has happened yet.">
      {entries.map((entry, index) => (
        <Fragment key={entry.id}>
          <Day at={entry.recordedAt} after={entries[index - 1]?.recordedAt} />
          <StatusItem entry={entry} />
        </Fragment>
      ))}
    </TimelineSection>
  );
}

function StatusItem({ entry }: { entry: StatusEntry }) {
  const isCash = entry.event.startsWith("cod.");
  return (
    <Item
      tone={isCash ? "good" : DELIVERY_STATUSES[entry.status].tone}
      title={eventLabel(entry.event)}
      at={entry.recordedAt}
      strong
    >
      {statusDetail(entry.data as unknown as EventData)}
    </Item>
  );
}

interface EventData {
  reason?: string | null;
  codAmountPaise?: number | null;
  driver?: { name?: string | null; vehicle?: string | null } | null;
}

function statusDetail(data: EventData): ReactNode {
  if (data.reason) return sentence(data.reason);
  if (typeof data.codAmountPaise === "number") return <Money paise={data.codAmountPaise} />;
  if (data.driver) return [data.driver.name, data.driver.vehicle].filter(Boolean).join(", ");
  return null;
}

/** The date, before the first entry of each day. */
function Day({ at, after }: { at: string; after?: string }) {
  const date = formatDate(at);
  if (after && formatDate(after) === date) return null;
  return <li className={classes.day}>{date}</li>;
}
