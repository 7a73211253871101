import type { CashMonth, useCashMonths } from "../../api/cash";
import { type Column, DataTable } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { moneyColumn } from "../../components/money";
import { Section } from "../../components/section";
import { formatMonth } from "../../format/day";

const COLUMNS: Column<CashMonth>[] = [
  { key: "month", header: "Delivered in", lead: true, render: ({ month }) => formatMonth(month) },
  { key: "orders", header: "Orders", width: "10%", align: "end", render: ({ orders }) => orders },
  moneyColumn<CashMonth>("collected", "Collected", "14%", (month) => month.owedPaise - month.unreportedPaise),
  moneyColumn<CashMonth>("unreported", "Not reported", "14%", (month) => month.unreportedPaise),
  moneyColumn<CashMonth>("settled", "Settled", "14%", (month) => month.settledPaise),
  moneyColumn<CashMonth>("closed", "Closed", "14%", closedPaise),
  moneyColumn<CashMonth>("outstanding", "Owed to you", "14%", (month) => month.outstandingPaise),
];

/** What settled orders with a closed discrepancy lack: the rest of the sums. */
function closedPaise({ owedPaise, settledPaise, outstandingPaise }: CashMonth) {
  return owedPaise - settledPaise - outstandingPaise;
}

/** Cash by the month of the delivery. */
export function CashMonths({ months }: { months: ReturnType<typeof useCashMonths> }) {
  return (
    <Section
      title="By month"
      description="Orders that were delivered in the month, and how much of their cash was settled until today. Not reported: the cash to collect of orders for which the driver reported none. Closed: what settled orders lack, less what others were paid too much, and is no longer owed because your delivery company closed the discrepancy."
      flush
    >
      {months.error && !months.data ? (
        <div style={{ padding: "0 16px 16px" }}>
          <ErrorState error={months.error} onRetry={() => months.refetch()} />
        </div>
      ) : (
        <DataTable
          label="Cash by month"
          columns={COLUMNS}
          rows={months.data ?? []}
          rowKey={({ month }) => month}
          isLoading={months.isPending}
          empty={
            <EmptyState title="No cash in the last six months">Months with cash appear here.</EmptyState>
          }
        />
      )}
    </Section>
  );
}
