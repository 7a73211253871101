import { Stack } from "@mantine/core";
import { exportCashOf } from "../../api/exports";
import { useCashOfBusiness } from "../../api/operator-businesses";
import { CashStatus, CashTime } from "../../components/cash-status";
import type { Column } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { ExportList } from "../../components/export-list";
import { Figure, Figures } from "../../components/figures";
import { ListSection } from "../../components/list-section";
import { Money, moneyColumn } from "../../components/money";
import { CashCard, CashOrder } from "./cash-order";
import { DifferenceOwner } from "./difference-owner";

type Cash = ReturnType<typeof useCashOfBusiness>["rows"][number];

const COLUMNS: Column<Cash>[] = [
  { key: "order", header: "Order", lead: true, render: (cash) => <CashOrder cash={cash} /> },
  {
    key: "standing",
    header: "Cash",
    width: "32%",
    render: (cash) => (
      <>
        <CashStatus cash={cash} />
        {/* Also of a closed one, which the list of discrepancies no longer has. */}
        {(cash.discrepant || cash.difference) && <DifferenceOwner cash={cash} />}
      </>
    ),
  },
  moneyColumn<Cash>("expected", "To collect", "16%", ({ expectedPaise }) => expectedPaise),
  { key: "since", header: "Time", width: "20%", render: (cash) => <CashTime cash={cash} /> },
];

/** The cash that drivers collected for a business, and where it is. */
export function BusinessCash({ businessId }: { businessId: string }) {
  const cash = useCashOfBusiness(businessId);
  return (
    <Stack gap="md">
      {cash.totals && (
        <Figures label="Cash totals">
          <Figure name="Owed to the business">
            <Money paise={cash.totals.outstandingPaise} />
          </Figure>
          <Figure name="Not reported">
            <Money paise={cash.totals.pendingPaise} />
          </Figure>
          <Figure name="With drivers">
            <Money paise={cash.totals.withDriversPaise} />
          </Figure>
          <Figure name="With you">
            <Money paise={cash.totals.withOperatorPaise} />
          </Figure>
        </Figures>
      )}
      <ListSection
        title="Orders with cash"
        actions={
          <ExportList
            scope="operator"
            days="Orders that were delivered"
            begin={(format, { from, until }) =>
              exportCashOf(businessId, { dueFrom: from, dueUntil: until, format })
            }
          />
        }
        list={cash}
        failed="The cash could not be loaded"
        columns={COLUMNS}
        card={(row) => (
          <CashCard cash={row}>
            <CashTime cash={row} />
          </CashCard>
        )}
        rowKey={(row) => row.orderId}
        showsCount
        empty={
          <EmptyState title="No cash on delivery yet">
            Live orders with cash appear here after their delivery.
          </EmptyState>
        }
      />
    </Stack>
  );
}
