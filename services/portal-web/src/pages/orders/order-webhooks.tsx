import { Fragment } from "react";
import type { TimelineEntry } from "../../api/orders";
import type { Endpoint } from "../../api/webhooks";
import { Money } from "../../components/money";
import { type EventKind, eventLabel } from "../../format/event-labels";
import classes from "./timeline.module.css";
import { Item } from "./timeline-item";
import { type Timeline, TimelineSection } from "./timeline-section";
import { type WebhookEntry, WebhookItem, waitsBehind } from "./webhook-item";

interface OrderWebhooksProps {
  timeline: Timeline;
  /** False in the operator console, which has no pages for deliveries, and for roles that do not see them. */
  hasDeliveryPages?: boolean;
  /** The business's endpoints; absent until they are loaded. */
  endpoints?: Endpoint[];
}

/** The webhooks of each event, with what the endpoints answered. */
export function OrderWebhooks({ timeline, hasDeliveryPages = true, endpoints }: OrderWebhooksProps) {
  const { rows } = timeline;
  return (
    <TimelineSection
      title="Webhooks"
      description="Each event of the order, and what the endpoints of the business answered."
      timeline={timeline}
      owner="webhook-dispatcher"
      empty="The order has no events yet."
    >
      {byEvent(rows).map(({ id, event, webhooks }) => (
        <Fragment key={id}>
          <li className={classes.day}>
            {eventLabel(event)}
            {webhooks.length === 0 && ": no webhook"}
          </li>
          {webhooks.map((entry) => (
            <WebhookItem
              key={entry.id}
              entry={entry}
              isLinked={hasDeliveryPages}
              waits={waitsBehind(entry, rows.slice(0, rows.indexOf(entry)))}
              endpoints={endpoints}
            />
          ))}
        </Fragment>
      ))}
    </TimelineSection>
  );
}

interface EventWebhooks {
  id: string;
  event: EventKind;
  webhooks: WebhookEntry[];
}

/** The order's events, oldest first, each with its webhooks. */
function byEvent(rows: TimelineEntry[]): EventWebhooks[] {
  const events = new Map<string, EventWebhooks>();
  for (const entry of rows) {
    if (entry.type === "money") continue;
    const id = entry.type === "webhook" ? entry.eventId : entry.id;
    const known = events.get(id) ?? { id, event: entry.event, webhooks: [] };
    if (entry.type === "webhook") known.webhooks.push(entry);
    events.set(id, known);
  }
  return [...events.values()];
}

/** An order has no other debit than the fees of further attempts. */
const POSTINGS: Record<string, string> = {
  delivery_fee: "Delivery fee charged",
  operator_debit: "Fee of another attempt charged",
  operator_debit_shortfall: "Fee of another attempt, owed",
  refund: "Delivery fee refunded",
};

/** The postings in the wallet that the order caused. */
export function OrderPostings({ timeline }: { timeline: Timeline }) {
  const postings = timeline.rows.filter((entry) => entry.type === "money");
  return (
    <TimelineSection
      title="Wallet postings"
      timeline={timeline}
      owner="wallet"
      empty="The order has not moved money in the wallet."
    >
      {postings.map((entry) => (
        <Item
          key={entry.id}
          tone="idle"
          title={POSTINGS[entry.kind] ?? entry.kind}
          at={entry.recordedAt}
          end={
            // A debt moves nothing. Null for roles that do not see the wallet.
            entry.amountPaise === 0 ? (
              typeof entry.owedPaise === "number" && (
                <>
                  <Money paise={entry.owedPaise} /> owed
                </>
              )
            ) : (
              <Money paise={entry.amountPaise} moves />
            )
          }
        >
          {/* Null for roles that do not see the wallet. */}
          {typeof entry.balanceAfterPaise === "number" && (
            <>
              Balance: <Money paise={entry.balanceAfterPaise} />
            </>
          )}
        </Item>
      ))}
    </TimelineSection>
  );
}
