import { Skeleton, Stack, Text } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import type { Order, TimelineEntry, useTimeline } from "../../api/orders";
import type { Endpoint } from "../../api/webhooks";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { Money } from "../../components/money";
import { Section } from "../../components/section";
import { eventLabel } from "../../format/event-labels";
import { DELIVERY_STATUSES, sentence } from "../../format/order-labels";
import { joinList } from "../../format/service-names";
import { formatDate } from "../../format/time";
import classes from "./timeline.module.css";
import { Item } from "./timeline-item";
import { WebhookItem, waitsBehind } from "./webhook-item";

interface OrderTimelineProps {
  order: Order;
  timeline: ReturnType<typeof useTimeline>;
  /** False in the operator console, which has no pages for deliveries, and for roles that do not see them. */
  hasDeliveryPages?: boolean;
  /** The business's endpoints; absent until they are loaded. */
  endpoints?: Endpoint[];
}

/** The order's status changes, money and webhooks, oldest first. */
export function OrderTimeline({ order, timeline, hasDeliveryPages = true, endpoints }: OrderTimelineProps) {
  const rows = timeline.rows;
  return (
    <Section title="Timeline" flush>
      {timeline.isPending && (
        <Stack p="md" aria-busy="true">
          {["one", "two", "three"].map((name) => (
            <Skeleton key={name} height={40} />
          ))}
        </Stack>
      )}
      {timeline.error && timeline.rows.length === 0 && (
        <div style={{ padding: 16 }}>
          <ErrorState error={timeline.error} onRetry={() => timeline.refetch()} />
        </div>
      )}
      {timeline.missing.length > 0 && <Missing services={timeline.missing} />}
      {rows.length > 0 && (
        <ol className={classes.timeline} aria-label="Timeline" aria-live="polite" aria-relevant="additions">
          <Day at={order.createdAt} />
          <Item tone="idle" title="Request accepted" at={order.createdAt}>
            {order.mode === "test" ? "With a Test key" : "With a Live key"}
          </Item>
          {rows.map((entry, index) => (
            <Fragment key={entry.id}>
              <Day at={entry.recordedAt} after={rows[index - 1]?.recordedAt ?? order.createdAt} />
              {entry.type === "webhook" ? (
                <WebhookItem
                  entry={entry}
                  isLinked={hasDeliveryPages}
                  waits={waitsBehind(entry, rows.slice(0, index))}
                  endpoints={endpoints}
                />
              ) : (
                <Entry entry={entry} />
              )}
            </Fragment>
          ))}
        </ol>
      )}
      <LoadMore list={timeline} />
    </Section>
  );
}

const OWNERS: Record<string, string> = { wallet: "payments", "webhook-dispatcher": "webhooks" };

function Missing({ services }: { services: string[] }) {
  const what = joinList(services.map((service) => OWNERS[service] ?? service));
  return (
    <Text c="dimmed" px="md" pb="xs" role="status">
      Temporarily unavailable: {what}.
    </Text>
  );
}

type EntryOf<Type extends TimelineEntry["type"]> = Extract<TimelineEntry, { type: Type }>;

function Entry({ entry }: { entry: EntryOf<"status"> | EntryOf<"money"> }) {
  if (entry.type === "status") return <StatusItem entry={entry} />;
  return (
    <Item
      tone="idle"
      title={entry.kind === "refund" ? "Delivery fee refunded" : "Delivery fee charged"}
      at={entry.recordedAt}
      end={<Money paise={entry.amountPaise} moves />}
    >
      {/* Null for roles that do not see the wallet. */}
      {typeof entry.balanceAfterPaise === "number" && (
        <>
          Balance: <Money paise={entry.balanceAfterPaise} />
        </>
      )}
    </Item>
  );
}

function StatusItem({ entry }: { entry: EntryOf<"status"> }) {
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
