import { Text } from "@mantine/core";
import type { Cash } from "../api/cash";
import { CASH_STATUSES, cashDifference } from "../format/cash-labels";
import { dayInIndia } from "../format/day";
import { statusLabel } from "../format/status-label";
import { StatusBadge } from "./status-badge";
import { Time } from "./time";

/** How far the operator is with a difference. Nobody clears an open one yet. */
const DIFFERENCE_STATES: Record<string, string> = {
  assigned: ", being cleared",
  closed: ", closed by the delivery company",
};

/** The cash status of an order, and its discrepancy. */
export function CashStatus({ cash }: { cash: Cash }) {
  return (
    <div>
      <StatusBadge {...statusLabel(CASH_STATUSES, cash.status)} />
      <CashDifference cash={cash} />
    </div>
  );
}

/** The discrepancy of an order, if it has one. A closed one is not alarming. */
export function CashDifference({ cash }: { cash: Cash }) {
  if (!cash.differenceState) return null;
  return (
    <Text size="xs" c={cash.differenceState === "closed" ? "dimmed" : "var(--tone-bad)"}>
      {cashDifference(cash)}
      {DIFFERENCE_STATES[cash.differenceState]}
    </Text>
  );
}

/** Marks a promised day that is over. Days are those of India, like the promise. */
export function CashLate({ promisedOn }: { promisedOn: string }) {
  if (promisedOn >= dayInIndia(new Date())) return null;
  return (
    <Text span size="xs" c="var(--tone-bad)">
      Late
    </Text>
  );
}

/** Since when the cash is due, or when it was settled. */
export function CashTime({ cash: { dueSince, settledAt } }: { cash: Cash }) {
  return (
    <>
      {settledAt ? "Settled" : "Due since"} <Time at={settledAt ?? dueSince} relative />
    </>
  );
}
