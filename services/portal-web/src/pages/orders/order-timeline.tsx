import { Anchor } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import { Link } from "react-router-dom";
import type { Order, TimelineEntry } from "../../api/orders";
import { Money } from "../../components/money";
import { correctedFields } from "../../format/corrected-fields";
import { formatDay } from "../../format/day";
import { eventLabel } from "../../format/event-labels";
import { requestedBy } from "../../format/failure-labels";
import { DELIVERY_STATUSES, sentence } from "../../format/order-labels";
import { formatDate } from "../../format/time";
import classes from "./timeline.module.css";
import { Item } from "./timeline-item";
import { type Timeline, TimelineSection } from "./timeline-section";

export type StatusEntry = Extract<TimelineEntry, { type: "status" }>;

export function statusEntries(rows: TimelineEntry[]): StatusEntry[] {
  return rows.filter((entry): entry is StatusEntry => entry.type === "status");
}

type Corrections = Order["corrections"];
export type Transfer = NonNullable<EventData["remittance"]>;

/** The bank transfer that paid out the cash, if the operator recorded one. */
export function transferOf(rows: TimelineEntry[]): Transfer | undefined {
  const settled = statusEntries(rows).findLast(({ event }) => event === "cod.settled");
  return (settled?.data as unknown as EventData | undefined)?.remittance ?? undefined;
}

/** What the fees of attempts took more than the balance had, once all is read. A later top-up may have paid it. */
export function owedOf({ rows, hasNextPage, missing }: Timeline): number {
  if (hasNextPage || missing.includes("wallet")) return 0;
  return (
    rows
      .filter((entry) => entry.type === "money")
      .filter(({ kind }) => kind === "operator_debit_shortfall")
      // Null for roles that do not see the wallet.
      .reduce((sum, { owedPaise }) => sum + (owedPaise ?? 0), 0)
  );
}

interface OrderTimelineProps {
  timeline: Timeline;
  corrections?: Corrections | undefined;
  /** The page of a bank transfer, if there is one for the reader. */
  transferPath?: ((id: string) => string) | undefined;
}

/** What happened to the parcel, its address and its cash, oldest first. */
export function OrderTimeline({ timeline, corrections = [], transferPath }: OrderTimelineProps) {
  const statuses = statusEntries(timeline.rows).map((entry) => ({
    at: entry.recordedAt,
    key: entry.id,
    item: <StatusItem entry={entry} transferPath={transferPath} />,
  }));
  const corrected = corrections.map((correction) => ({
    at: correction.correctedAt,
    key: correction.correctedAt,
    item: <CorrectionItem correction={correction} />,
  }));
  const entries = [...statuses, ...corrected].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return (
    <TimelineSection title="Timeline" timeline={timeline} empty="Nothing has happened yet.">
      {entries.map(({ at, key, item }, index) => (
        <Fragment key={key}>
          <Day at={at} after={entries[index - 1]?.at} />
          {item}
        </Fragment>
      ))}
    </TimelineSection>
  );
}

function CorrectionItem({ correction: { correctedAt, keyId, fields } }: { correction: Corrections[number] }) {
  return (
    <Item tone="info" title={`Corrected: ${correctedFields(fields)}`} at={correctedAt} strong>
      {keyId ? `With the API key ${keyId}` : "In the portal. Its audit log names the person."}
    </Item>
  );
}

function StatusItem({
  entry,
  transferPath,
}: { entry: StatusEntry } & Pick<OrderTimelineProps, "transferPath">) {
  const isCash = entry.event.startsWith("cod.");
  const data = entry.data as unknown as EventData;
  const detail = statusDetail(data, transferPath);
  const by = requestedBy(data.requestedBy);
  return (
    <Item
      tone={isCash ? "good" : DELIVERY_STATUSES[entry.status].tone}
      title={eventLabel(entry.event)}
      at={entry.recordedAt}
      strong
    >
      {detail && by ? (
        <>
          {detail} · {by}
        </>
      ) : (
        (detail ?? (by && sentence(by)))
      )}
    </Item>
  );
}

interface EventData {
  reason?: string | null;
  codAmountPaise?: number | null;
  /** The bank transfer that settled the cash. */
  remittance?: { id: string; bankReference: string; paidOn: string } | null;
  driver?: { name?: string | null; vehicle?: string | null } | null;
  /** The attempt that the business asked for. */
  reattempt?: { number: number; on?: string | null } | null;
  /** Of what the business or the operator asked for. */
  requestedBy?: string | null;
}

function statusDetail(data: EventData, transferPath: OrderTimelineProps["transferPath"]): ReactNode {
  if (data.reason) return sentence(data.reason);
  if (typeof data.codAmountPaise === "number") {
    const { codAmountPaise, remittance } = data;
    if (!remittance) return <Money paise={codAmountPaise} />;
    const { id, bankReference, paidOn } = remittance;
    return (
      <>
        <Money paise={codAmountPaise} /> paid on {formatDay(paidOn)} with{" "}
        {transferPath ? (
          <Anchor component={Link} to={transferPath(id)} size="xs">
            {bankReference}
          </Anchor>
        ) : (
          bankReference
        )}{" "}
        <span style={{ overflowWrap: "anywhere" }}>({id})</span>
      </>
    );
  }
  if (data.reattempt) {
    const { number, on } = data.reattempt;
    return `Attempt ${number}, ${on ? `on ${formatDay(on)}` : "as soon as possible"}`;
  }
  if (data.driver) return [data.driver.name, data.driver.vehicle].filter(Boolean).join(", ");
  return null;
}

/** The date, before the first entry of each day. */
function Day({ at, after }: { at: string; after?: string }) {
  const date = formatDate(at);
  if (after && formatDate(after) === date) return null;
  return <li className={classes.day}>{date}</li>;
}
