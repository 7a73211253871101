import { Anchor, Button, Stack } from "@mantine/core";
import { Link } from "react-router-dom";
import { useBusiness } from "../../api/operator-businesses";
import { type BusinessCash, useCashOfAll, useDiscrepancies } from "../../api/operator-orders";
import { CashStatus, CashTime } from "../../components/cash-status";
import type { Column } from "../../components/data-table";
import { DenseCard } from "../../components/dense-card";
import { EmptyState } from "../../components/empty-state";
import { ListSection } from "../../components/list-section";
import { Money, moneyColumn } from "../../components/money";
import { PageHeader } from "../../components/page-header";
import { CASH_AGES, orderCount } from "../../format/cash-labels";
import { CashCard, CashOrder } from "./cash-order";
import { DifferenceOwner } from "./difference-owner";

export function Component() {
  return (
    <>
      <PageHeader
        title="Cash on delivery"
        description="Cash that businesses wait for: of delivered orders without a report, with drivers, and with you. Orders whose amounts do not match."
      />
      <Stack gap="md">
        <Outstanding />
        <Discrepancies />
      </Stack>
    </>
  );
}

const CASH_COLUMNS: Column<BusinessCash>[] = [
  {
    key: "business",
    header: "Business",
    lead: true,
    render: (cash) => <BusinessLink id={cash.businessId} />,
  },
  moneyColumn<BusinessCash>("outstanding", "Owed", "12%", (cash) => cash.outstandingPaise),
  // The next three add up to what is owed.
  moneyColumn<BusinessCash>("pending", "Not reported", "12%", (cash) => cash.pendingPaise),
  moneyColumn<BusinessCash>("drivers", "With drivers", "12%", (cash) => cash.withDriversPaise),
  moneyColumn<BusinessCash>("operator", "With you", "12%", (cash) => cash.withOperatorPaise),
  { key: "late", header: "Late", width: "10%", align: "end", render: ({ lateOrders }) => lateOrders || "–" },
  { key: "oldest", header: "Oldest", width: "14%", render: oldest },
  {
    key: "settle",
    header: "Settle",
    width: "11%",
    align: "end",
    actions: true,
    render: ({ businessId }) => (
      <Button component={Link} to={`/operator/cash/${businessId}`} size="xs" variant="default">
        Orders
      </Button>
    ),
  },
];

function oldest({ ages }: BusinessCash): string {
  const last = ages.findLast((age) => age.orders > 0);
  return last ? (CASH_AGES[last.days] ?? last.days) : "–";
}

function Outstanding() {
  return (
    <ListSection
      title="Owed to businesses"
      label="Cash owed to businesses"
      list={useCashOfAll()}
      columns={CASH_COLUMNS}
      card={(cash) => <OutstandingCard cash={cash} />}
      rowKey={(row) => row.businessId}
      empty={
        <EmptyState title="Nothing is owed">
          Cash that drivers collect appears here until it is settled with the business.
        </EmptyState>
      }
    />
  );
}

/** A row on a phone. */
function OutstandingCard({ cash }: { cash: BusinessCash }) {
  const { businessId, outstandingPaise, pendingPaise, withDriversPaise, withOperatorPaise, lateOrders } =
    cash;
  return (
    <DenseCard>
      <BusinessLink id={businessId} />
      <Money paise={outstandingPaise} />
      <span>
        <Money paise={withOperatorPaise} /> with you, <Money paise={withDriversPaise} /> with drivers,{" "}
        <Money paise={pendingPaise} /> not reported
      </span>
      <span>{lateOrders > 0 && `${orderCount(lateOrders)} late`}</span>
      <span>Oldest: {oldest(cash)}</span>
      <Anchor component={Link} to={`/operator/cash/${businessId}`}>
        Orders
      </Anchor>
    </DenseCard>
  );
}

type Discrepancy = ReturnType<typeof useDiscrepancies>["rows"][number];

const DISCREPANCY_COLUMNS: Column<Discrepancy>[] = [
  { key: "order", header: "Order", lead: true, render: (cash) => <CashOrder cash={cash} /> },
  {
    key: "business",
    header: "Business",
    width: "24%",
    render: (cash) => <BusinessLink id={cash.businessId} />,
  },
  { key: "standing", header: "Cash", width: "26%", render: (cash) => <CashStatus cash={cash} /> },
  { key: "since", header: "Time", width: "14%", render: (cash) => <CashTime cash={cash} /> },
  { key: "owner", header: "Owner", width: "20%", render: (cash) => <DifferenceOwner cash={cash} /> },
];

function Discrepancies() {
  return (
    <ListSection
      title="Discrepancies"
      description="Orders with an unexpected amount in one of the steps, until they are closed."
      list={useDiscrepancies()}
      columns={DISCREPANCY_COLUMNS}
      card={(cash) => (
        <CashCard cash={cash}>
          <BusinessLink id={cash.businessId} inherit />, <CashTime cash={cash} />
        </CashCard>
      )}
      rowKey={(row) => row.orderId}
      empty={
        <EmptyState title="No discrepancies">
          Every step reported the expected amount, or is closed.
        </EmptyState>
      }
    />
  );
}

/** Shows the id until the name is loaded. */
function BusinessLink({ id, inherit = false }: { id: string; inherit?: boolean }) {
  const { data: business } = useBusiness(id);
  const path = `/operator/businesses/${id}`;
  return (
    <Anchor component={Link} to={path} size="sm" inherit={inherit} style={{ overflowWrap: "anywhere" }}>
      {business?.name ?? id}
    </Anchor>
  );
}
