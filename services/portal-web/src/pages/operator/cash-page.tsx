import { Anchor, Stack } from "@mantine/core";
import { Link } from "react-router-dom";
import { useBusiness } from "../../api/operator-businesses";
import { type BusinessCash, useCashOfAll, useDiscrepancies } from "../../api/operator-orders";
import { CashStanding } from "../../components/cash-steps";
import { type Column, DataTable } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { Money } from "../../components/money";
import { PageHeader } from "../../components/page-header";
import { Section } from "../../components/section";
import { Time } from "../../components/time";
import { CASH_AGES } from "../../format/cash-words";

export function Component() {
  return (
    <>
      <PageHeader
        title="Cash on delivery"
        description="What was collected for businesses and is not settled yet, and where the amounts do not agree."
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
  amountColumn("outstanding", "Owed", (cash) => cash.outstandingPaise),
  amountColumn("drivers", "With drivers", (cash) => cash.withDriversPaise),
  amountColumn("operator", "With you", (cash) => cash.withOperatorPaise),
  { key: "oldest", header: "Oldest", width: "16%", render: oldest },
];

function amountColumn(
  key: string,
  header: string,
  pick: (cash: BusinessCash) => number,
): Column<BusinessCash> {
  return { key, header, width: "15%", align: "end", render: (cash) => <Money paise={pick(cash)} /> };
}

function oldest({ ages }: BusinessCash): string {
  const last = ages.findLast((age) => age.orders > 0);
  return last ? (CASH_AGES[last.days] ?? last.days) : "–";
}

function Outstanding() {
  const cash = useCashOfAll();
  return (
    <Section title="Owed to businesses" flush>
      {cash.error && cash.rows.length === 0 ? (
        <Failed error={cash.error} onRetry={() => cash.refetch()} />
      ) : (
        <DataTable
          label="Cash owed to businesses"
          columns={CASH_COLUMNS}
          rows={cash.rows}
          rowKey={(row) => row.businessId}
          isLoading={cash.isPending}
          empty={
            <EmptyState title="Nothing is owed">
              Cash that drivers collect appears here until it is settled with its business.
            </EmptyState>
          }
        />
      )}
      <LoadMore
        hasMore={cash.hasNextPage}
        isLoading={cash.isFetchingNextPage}
        onMore={() => cash.fetchNextPage()}
      />
    </Section>
  );
}

type Discrepancy = ReturnType<typeof useDiscrepancies>["rows"][number];

const DISCREPANCY_COLUMNS: Column<Discrepancy>[] = [
  {
    key: "order",
    header: "Order",
    lead: true,
    render: (cash) => (
      <Anchor component={Link} to={`/operator/orders?code=${cash.orderId}`} size="sm">
        {cash.orderReference}
      </Anchor>
    ),
  },
  {
    key: "business",
    header: "Business",
    width: "24%",
    render: (cash) => <BusinessLink id={cash.businessId} />,
  },
  { key: "standing", header: "Cash", width: "30%", render: (cash) => <CashStanding cash={cash} /> },
  { key: "since", header: "Due since", width: "17%", render: (cash) => <Time at={cash.dueSince} relative /> },
];

function Discrepancies() {
  const found = useDiscrepancies();
  return (
    <Section title="Discrepancies" description="Orders of which a step reported another amount." flush>
      {found.error && found.rows.length === 0 ? (
        <Failed error={found.error} onRetry={() => found.refetch()} />
      ) : (
        <DataTable
          label="Discrepancies"
          columns={DISCREPANCY_COLUMNS}
          rows={found.rows}
          rowKey={(row) => row.orderId}
          isLoading={found.isPending}
          empty={<EmptyState title="All amounts agree">Each step reported what was expected.</EmptyState>}
        />
      )}
      <LoadMore
        hasMore={found.hasNextPage}
        isLoading={found.isFetchingNextPage}
        onMore={() => found.fetchNextPage()}
      />
    </Section>
  );
}

function Failed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div style={{ padding: "0 16px 16px" }}>
      <ErrorState error={error} onRetry={onRetry} />
    </div>
  );
}

/** By its name as soon as that is known. */
function BusinessLink({ id }: { id: string }) {
  const { data: business } = useBusiness(id);
  return (
    <Anchor component={Link} to={`/operator/businesses/${id}`} size="sm" style={{ overflowWrap: "anywhere" }}>
      {business?.name ?? id}
    </Anchor>
  );
}
