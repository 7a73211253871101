import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import { Link } from "react-router-dom";
import type { Home } from "../../api/home";
import { useLiveStatus } from "../../api/status";
import { useMay } from "../../app/session";
import { useFreshStanding } from "../../app/use-fresh-standing";
import { Figure, Figures } from "../../components/figures";
import { Money } from "../../components/money";
import { useToday } from "../../components/time";
import { LATE_CASH, orderCount } from "../../format/cash-labels";
import { minutesInWords } from "../../format/failure-labels";
import { formatPaise } from "../../format/money";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../../format/order-labels";
import { formatShare } from "../../format/percent";
import { joinList, serviceName } from "../../format/service-names";
import { FailingEndpoints } from "../webhooks/failing-endpoints";

/** The most recent orders that the server counts. */
const COUNTED_MAX = 20_000;
const ATTENTION_MAX = 1_000;

/** What happens today, and what needs attention, as far as the role may read it. */
export function HomePart({ home }: { home: Home }) {
  const status = useLiveStatus();
  useFreshStanding(status.data);
  const [seesMoney, seesWebhooks] = [useMay("read_money"), useMay("read_webhooks")];
  return (
    <Stack gap="lg">
      {home.incomplete.length > 0 && (
        <Text c="var(--tone-warn)" role="status">
          Not responding: {joinList(home.incomplete.map(serviceName))}. Their figures are missing below. This
          page retries automatically.
        </Text>
      )}
      {seesWebhooks && <FailingEndpoints />}
      <Part title="Orders today" narrow>
        <Today orders={home.orders} />
      </Part>
      <Part title="Needs attention">
        <Attention orders={home.orders} />
        {seesMoney && <LateCash cash={home.cash} />}
        {seesMoney && <CashDiscrepancies cash={home.cash} />}
        {seesWebhooks && <Endpoints endpoints={home.endpoints} />}
      </Part>
      <Part title={seesMoney ? "Delivery and money" : "Delivery"}>
        <Rate orders={home.orders} />
        {seesMoney && (
          <>
            <Balance wallet={home.wallet} />
            <CashDue cash={home.cash} />
          </>
        )}
      </Part>
    </Stack>
  );
}

function Part({ title, narrow, children }: { title: string; narrow?: boolean; children: ReactNode }) {
  return (
    <div>
      <Title order={2} mb="xs">
        {title}
      </Title>
      <Figures label={title} narrow={narrow}>
        {children}
      </Figures>
    </div>
  );
}

type Orders = Home["orders"];

/** The states of a day, each with the statuses that it sums. */
const STATES: { name: string; statuses: DeliveryStatus[] }[] = [
  { name: "No driver yet", statuses: ["created"] },
  { name: "With a driver", statuses: ["driver_assigned", "picked_up", "out_for_delivery"] },
  { name: "Delivered", statuses: ["delivered"] },
  { name: "Failed or returned", statuses: ["failed", "returned"] },
  { name: "Cancelled", statuses: ["cancelled"] },
];

function Today({ orders }: { orders: Orders }) {
  const day = useToday();
  if (!orders) return <Unavailable name="Placed" />;
  const count = (statuses?: DeliveryStatus[]) =>
    orders.today
      .filter(({ status }) => !statuses || statuses.includes(status))
      .reduce((sum, one) => sum + one.orders, 0);
  const placed = count();
  return (
    <>
      <Figure name="Placed" to={listOf(day)}>
        {placed}
        {placed >= COUNTED_MAX && " or more"}
      </Figure>
      {STATES.map(({ name, statuses }) => (
        // A list shows one status.
        <Figure
          key={name}
          name={name}
          to={statuses.length === 1 ? listOf(day, statuses[0]) : undefined}
          hint={
            statuses.length > 1 && <Lists day={day} of={statuses.filter((status) => count([status]) > 0)} />
          }
        >
          {count(statuses)}
        </Figure>
      ))}
    </>
  );
}

function Lists({ day, of }: { day: string; of: DeliveryStatus[] }) {
  return of.map((status, index) => (
    <Fragment key={status}>
      {index > 0 && ", "}
      <Anchor component={Link} to={listOf(day, status)} size="xs">
        {DELIVERY_STATUSES[status].label}
      </Anchor>
    </Fragment>
  ));
}

/** The orders that were placed on this day. */
function listOf(day: string, status?: DeliveryStatus): string {
  return `/orders?mode=live&from=${day}&to=${day}${status ? `&status=${status}` : ""}`;
}

function Attention({ orders }: { orders: Orders }) {
  if (!orders) return <Unavailable name="Failed deliveries" />;
  const limits = orders.attentionLimits;
  return (
    <>
      <Figure name="Failed deliveries" to="/exceptions?kind=failed" hint="They wait for your decision">
        <Count of={orders.attention.failed} tone="bad" />
      </Figure>
      <Figure
        name="No driver"
        to="/exceptions?kind=unassigned"
        hint={limits ? `For more than ${minutesInWords(limits.unassignedMinutes)}` : "For too long"}
      >
        <Count of={orders.attention.unassigned} tone="warn" />
      </Figure>
      <Figure
        name="No news"
        to="/exceptions?kind=stuck"
        hint={`A parcel on its way without a report${limits ? ` for more than ${minutesInWords(limits.silentMinutes)}` : ""}`}
      >
        <Count of={orders.attention.stuck} tone="warn" />
      </Figure>
    </>
  );
}

function Rate({ orders }: { orders: Orders }) {
  if (!orders) return <Unavailable name="Delivery rate" />;
  const { delivered, ended } = orders;
  return (
    <Figure
      name="Delivery rate"
      hint={ended > 0 ? `${delivered} of ${ended} delivered, last 7 days` : "No delivery ended in 7 days"}
    >
      {ended > 0 ? formatShare(delivered, ended) : "–"}
    </Figure>
  );
}

function Balance({ wallet }: { wallet: Home["wallet"] }) {
  if (!wallet) return <Unavailable name="Balance" />;
  const isLow = wallet.balancePaise < wallet.lowBalanceThresholdPaise;
  // Who owes has no balance that could last.
  const owed = wallet.owedPaise > 0 && `${formatPaise(wallet.owedPaise)} owed, paid first by the next top-up`;
  return (
    <Figure name="Balance" to="/wallet" hint={owed || lasts(wallet.daysLeft)}>
      <Text inherit component="span" c={isLow ? "var(--tone-bad)" : undefined}>
        <Money paise={wallet.balancePaise} />
      </Text>
    </Figure>
  );
}

function lasts(days: number | null | undefined): string {
  if (typeof days !== "number") return "No fees in the last 7 days";
  if (days < 1) return "Lasts less than a day at the recent pace";
  return `Lasts about ${days === 1 ? "1 day" : `${days} days`} at the recent pace`;
}

function CashDue({ cash }: { cash: Home["cash"] }) {
  if (!cash) return <Unavailable name="Cash due" />;
  return (
    <Figure name="Cash due" to="/cash-on-delivery" hint="Of delivered orders, not settled yet">
      <Money paise={cash.outstandingPaise} />
    </Figure>
  );
}

function LateCash({ cash }: { cash: Home["cash"] }) {
  if (!cash) return <Unavailable name="Cash late" />;
  const { lateOrders, latePaise } = cash;
  return (
    <Figure
      name="Cash late"
      to={LATE_CASH}
      hint={
        lateOrders === 0 ? "All within the promised time" : `${orderCount(lateOrders)}, past the promised day`
      }
    >
      <Text inherit component="span" c={lateOrders > 0 ? "var(--tone-bad)" : undefined}>
        <Money paise={latePaise} />
      </Text>
    </Figure>
  );
}

/** Amounts of the cash that do not match, and that the operator has not closed. */
function CashDiscrepancies({ cash }: { cash: Home["cash"] }) {
  if (!cash) return <Unavailable name="Cash discrepancies" />;
  return (
    <Figure
      name="Cash discrepancies"
      to="/cash-on-delivery?discrepant=true"
      hint={cash.discrepancies > 0 ? "Their amounts do not match" : "No open discrepancy"}
    >
      <Count of={cash.discrepancies} tone="bad" />
    </Figure>
  );
}

function Endpoints({ endpoints }: { endpoints: Home["endpoints"] }) {
  if (!endpoints) return <Unavailable name="Webhook endpoints" />;
  const { total, failing, disabled, paused } = endpoints;
  const bad = failing + disabled;
  const hints = [
    failing > 0 && `${failing} failing`,
    disabled > 0 && `${disabled} disabled`,
    paused > 0 && `${paused} paused`,
  ].filter(Boolean);
  return (
    <Figure
      name="Webhook endpoints"
      to="/webhooks"
      hint={hints.length > 0 ? hints.join(", ") : total > 0 ? "All receive" : "None configured"}
    >
      <Text inherit component="span" c={bad > 0 ? "var(--tone-bad)" : undefined}>
        {bad > 0 ? `${bad} of ${total} in trouble` : total}
      </Text>
    </Figure>
  );
}

/** A number that asks for something if it is not zero. */
function Count({ of, tone }: { of: number; tone: "bad" | "warn" }) {
  return (
    <Text inherit component="span" c={of > 0 ? `var(--tone-${tone})` : undefined}>
      {of}
      {of >= ATTENTION_MAX && " or more"}
    </Text>
  );
}

function Unavailable({ name }: { name: string }) {
  return (
    <Figure name={name} hint="Its service does not respond">
      <Group component="span" c="dimmed">
        Unavailable
      </Group>
    </Figure>
  );
}
