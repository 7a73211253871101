import { Paper, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Order, TimelineEntry } from "../../api/orders";
import { Money } from "../../components/money";
import { Time } from "../../components/time";
import { COD_STATUSES, DELIVERY_STATUSES, type DeliveryStatus, sentence } from "../../format/order-labels";
import { awaitsDecision } from "./next-events";
import { statusEntries } from "./order-timeline";
import classes from "./outcome.module.css";

interface OrderOutcomeProps {
  order: Order;
  entries: TimelineEntry[];
}

/** What became of the order, what follows from it, and its money in one line. */
export function OrderOutcome({ order, entries }: OrderOutcomeProps) {
  // The cash moves on after the delivery, without a new status.
  const at = statusEntries(entries).findLast(
    ({ status, event }) => status === order.status && !event.startsWith("cod."),
  )?.recordedAt;
  return (
    <Paper
      component="section"
      aria-label="Outcome"
      className={classes.outcome}
      data-tone={DELIVERY_STATUSES[order.status].tone}
    >
      <Title order={2} className={classes.headline}>
        {headline(order)}
        {at && (
          <>
            {" "}
            {ONGOING.includes(order.status) ? "since" : "on"} <Time at={at} />
          </>
        )}
        {order.reason && WITH_REASON.includes(order.status) && `: ${sentence(order.reason)}`}
      </Title>
      <Text c="dimmed" mt={4}>
        {consequence(order)}
      </Text>
      <Text mt={4}>
        <MoneyLine order={order} />
      </Text>
    </Paper>
  );
}

const ONGOING: DeliveryStatus[] = ["created", "driver_assigned", "out_for_delivery"];
/** While another attempt runs, an order has the reason of the former failure. */
const WITH_REASON: DeliveryStatus[] = ["failed", "cancelled", "returned"];

function headline({ status, driver, mode, failedAttempts }: Order): string {
  const name = driver?.name ?? "The driver";
  switch (status) {
    case "created":
      return mode === "test" ? "Ready to be simulated" : "Waiting for a driver";
    case "driver_assigned":
      return failedAttempts > 0 ? `${name} makes another attempt` : `${name} is on the way to the pickup`;
    case "picked_up":
      return driver?.name ? `Picked up by ${name}` : "Picked up";
    case "out_for_delivery":
      return driver?.name ? `On its way with ${name}` : "On its way";
    case "delivered":
      return "Delivered";
    case "failed":
      return "Delivery failed";
    case "cancelled":
      return "Cancelled";
    case "returned":
      return "Returned to the pickup";
  }
}

/** What follows, and what the business can do. */
function consequence(order: Order): string {
  const { status, driver, mode, refundedPaise, failedAttempts } = order;
  const refund = refundedPaise > 0 ? " The delivery fee is refunded to your wallet." : "";
  switch (status) {
    case "created":
      return mode === "test"
        ? "Test orders get no driver: simulate each step below."
        : "The fleet assigns one. Until the pickup, you can cancel the order.";
    case "driver_assigned":
      return failedAttempts > 0 ? "The fleet has the parcel." : "Until the pickup, you can cancel the order.";
    case "picked_up":
      return "The driver has the parcel, and sets out to the customer next.";
    case "out_for_delivery":
      return "The customer follows it on the tracking page.";
    case "delivered":
      return driver?.name ? `${driver.name} handed it over.` : "The parcel has arrived.";
    case "failed":
      return awaitsDecision(order)
        ? "The fleet has the parcel."
        : `The parcel was not picked up.${refund} To send it, place a new order.`;
    case "cancelled":
      return `The parcel was not picked up.${refund}`;
    case "returned":
      return "The parcel is back at your pickup address. To send it again, place a new order.";
  }
}

function MoneyLine({ order }: { order: Order }): ReactNode {
  const { payment, codStatus, mode } = order;
  return (
    <>
      {payment.paymentType === "cod" ? (
        <>
          Cash on delivery <Money paise={payment.codAmountPaise ?? 0} />:{" "}
          {codStatus === "not_applicable" ? "not collected" : COD_STATUSES[codStatus].label.toLowerCase()}
          <CashDifference order={order} />
        </>
      ) : (
        "Prepaid"
      )}
      {" · "}
      {mode === "test" ? (
        "No delivery fee (test order)"
      ) : (
        <>
          Delivery fee <Money paise={order.feeChargedPaise} />
          {order.refundedPaise > 0 && ", refunded"}
        </>
      )}
    </>
  );
}

/** The latest amount of the cash against the expected one, wherever the difference arose. */
function CashDifference({ order }: { order: Order }) {
  const { codCollectedPaise, codHandedOverPaise, codSettledPaise, payment } = order;
  const latest = codSettledPaise ?? codHandedOverPaise ?? codCollectedPaise;
  const difference = (latest ?? 0) - (payment.codAmountPaise ?? 0);
  if (typeof latest !== "number" || difference === 0) return null;
  return (
    <Text span inherit c="var(--tone-bad)">
      , <Money paise={Math.abs(difference)} /> {difference < 0 ? "less" : "more"} than expected
    </Text>
  );
}
