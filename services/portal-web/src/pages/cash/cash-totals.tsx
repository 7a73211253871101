import { Text } from "@mantine/core";
import type { CashTotals } from "../../api/cash";
import { Figure, Figures } from "../../components/figures";
import { Money } from "../../components/money";
import { CASH_AGES, orderCount } from "../../format/cash-labels";
import { formatPaise } from "../../format/money";

/** The cash owed to the business, by status. */
export function CashTotalsPart({ totals }: { totals: CashTotals }) {
  return (
    <div>
      <Figures label="Totals">
        <Figure name="Owed to you" hint={oldest(totals)}>
          <Money paise={totals.outstandingPaise} />
        </Figure>
        {totals.lateOrders > 0 && (
          <Figure name="Late" hint={orderCount(totals.lateOrders)}>
            <Money paise={totals.latePaise} />
          </Figure>
        )}
        <Figure name="Delivered, cash not reported" hint="No report from the driver">
          <Money paise={totals.pendingPaise} />
        </Figure>
        <Figure name="With drivers" hint={withDrivers(totals)}>
          <Money paise={totals.withDriversPaise} />
        </Figure>
        <Figure name="Handed over" hint="With the delivery company">
          <Money paise={totals.withOperatorPaise} />
        </Figure>
        <Figure name="Settled" hint="In the last 30 days">
          <Money paise={totals.settledRecentlyPaise} />
        </Figure>
      </Figures>
      {totals.discrepancies > 0 && (
        <Text c="var(--tone-bad)" mt="xs" role="status">
          {totals.discrepancies === 1
            ? "The amounts of one order do not match."
            : `The amounts of ${totals.discrepancies} orders do not match.`}{" "}
          Select “Only open discrepancies” below, and contact your delivery company.
        </Text>
      )}
    </div>
  );
}

/** The list has handed-over orders under another status, also if cash is missing. */
function withDrivers({ handedOverShortPaise }: CashTotals): string {
  if (handedOverShortPaise === 0) return "Collected";
  return `Collected, and ${formatPaise(handedOverShortPaise)} missing from handed-over orders`;
}

/** The oldest outstanding cash. */
function oldest({ ages }: CashTotals): string {
  const last = ages.findLast((age) => age.orders > 0);
  if (!last) return "Nothing outstanding";
  return `${formatPaise(last.amountPaise)} for ${(CASH_AGES[last.days] ?? last.days).toLowerCase()}`;
}
