import { Anchor, Skeleton, Stack, Text } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import { Link } from "react-router-dom";
import type { Order, TimelineEntry, useTimeline } from "../../api/orders";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { Money } from "../../components/money";
import { Section } from "../../components/section";
import type { Tone } from "../../components/status-badge";
import { Time } from "../../components/time";
import { eventLabel } from "../../format/event-words";
import { DELIVERY_STATUSES, sentence } from "../../format/order-words";
import { formatDate } from "../../format/time";
import classes from "./timeline.module.css";

interface OrderTimelineProps {
  order: Order;
  timeline: ReturnType<typeof useTimeline>;
  /** The operator sees webhooks too, and has no page of each. */
  hasDeliveryPages?: boolean;
}

/** All that happened to the order: its moves, its money and its webhooks, oldest first. */
export function OrderTimeline({ order, timeline, hasDeliveryPages = true }: OrderTimelineProps) {
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
      {timeline.rows.length > 0 && (
        <ol className={classes.timeline} aria-label="Timeline" aria-live="polite" aria-relevant="additions">
          <Day at={order.createdAt} />
          <Item tone="idle" title="Request accepted" at={order.createdAt}>
            {order.mode === "test" ? "With a Test key" : "With a Live key"}
          </Item>
          {timeline.rows.map((entry, index) => (
            <Fragment key={entry.id}>
              <Day at={entry.recordedAt} after={timeline.rows[index - 1]?.recordedAt ?? order.createdAt} />
              <Entry entry={entry} isLinked={hasDeliveryPages} />
            </Fragment>
          ))}
        </ol>
      )}
      <LoadMore list={timeline} />
    </Section>
  );
}

const LATE_MS = 60_000;
const OWNERS: Record<string, string> = { wallet: "money", "webhook-dispatcher": "webhooks" };

function Missing({ services }: { services: string[] }) {
  const what = services.map((service) => OWNERS[service] ?? service).join(" and ");
  return (
    <Text c="dimmed" px="md" pb="xs" role="status">
      The {what} of this order cannot be read right now, and will be shown as soon as possible.
    </Text>
  );
}

function Entry({ entry, isLinked }: { entry: TimelineEntry; isLinked: boolean }) {
  switch (entry.type) {
    case "status":
      return <StatusItem entry={entry} />;
    case "money":
      return (
        <Item
          tone="idle"
          title={entry.kind === "refund" ? "Delivery fee refunded" : "Delivery fee taken"}
          at={entry.recordedAt}
          end={<Money paise={entry.amountPaise} />}
        >
          Balance after it <Money paise={entry.balanceAfterPaise} />
        </Item>
      );
    case "webhook":
      return <WebhookItem entry={entry} isLinked={isLinked} />;
  }
}

type EntryOf<Type extends TimelineEntry["type"]> = Extract<TimelineEntry, { type: Type }>;

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
      {isReportedLate(entry) && (
        <div>
          Happened <Time at={entry.occurredAt} />
        </div>
      )}
    </Item>
  );
}

/** Whether it was heard of so long after it happened, or before, that both times matter. */
function isReportedLate(entry: EntryOf<"status">): boolean {
  return Math.abs(Date.parse(entry.recordedAt) - Date.parse(entry.occurredAt)) > LATE_MS;
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

function WebhookItem({ entry, isLinked }: { entry: EntryOf<"webhook">; isLinked: boolean }) {
  const { tone, words } = webhookOutcome(entry);
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
      {words}
    </Item>
  );
}

function webhookOutcome(entry: EntryOf<"webhook">): { tone: Tone; words: ReactNode } {
  const tries = entry.attempts === 1 ? "1 attempt" : `${entry.attempts} attempts`;
  switch (entry.state) {
    case "succeeded":
      return { tone: "good", words: `Received, answered ${entry.lastResponseStatus ?? "2xx"}` };
    case "failed":
      return { tone: "bad", words: `Not received after ${tries}: ${entry.lastError ?? "it failed"}` };
    case "discarded":
      return { tone: "warn", words: "Called off" };
    case "parked":
      return { tone: "warn", words: "Parked while the endpoint is disabled" };
    default:
      return { tone: entry.attempts > 0 ? "warn" : "info", words: <Pending entry={entry} /> };
  }
}

function Pending({ entry }: { entry: EntryOf<"webhook"> }) {
  if (entry.attempts === 0) return "On its way";
  return (
    <>
      {sentence(entry.lastError ?? "it failed")}; next attempt{" "}
      <Time at={entry.nextAttemptAt} relative never="soon" />
    </>
  );
}

/** The date, wherever a new day begins. */
function Day({ at, after }: { at: string; after?: string }) {
  const date = formatDate(at);
  if (after && formatDate(after) === date) return null;
  return <li className={classes.day}>{date}</li>;
}

interface ItemProps {
  tone: Tone;
  title: ReactNode;
  at: string;
  /** The order's own moves stand out. */
  strong?: boolean;
  end?: ReactNode;
  children?: ReactNode;
}

function Item({ tone, title, at, strong, end, children }: ItemProps) {
  return (
    <li className={classes.item}>
      <span
        className={strong ? `${classes.dot} ${classes.strong}` : classes.dot}
        data-tone={tone}
        aria-hidden="true"
      />
      <div className={classes.words}>
        <Text fw={strong ? 600 : 400}>{title}</Text>
        {children && (
          <Text size="xs" c="dimmed" component="div">
            {children}
          </Text>
        )}
      </div>
      <div className={classes.end}>
        {end}
        <Text size="xs" c="dimmed" component="div">
          <Time at={at} clock />
        </Text>
      </div>
    </li>
  );
}
