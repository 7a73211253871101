import { Button, Checkbox, Group, Stack, Switch, Text } from "@mantine/core";
import { IconCash } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { useParams } from "react-router-dom";
import type { Cash } from "../../api/cash";
import { exportCashOf } from "../../api/exports";
import { useBusiness } from "../../api/operator-businesses";
import { useCashToSettle, useRemittancesOf } from "../../api/operator-remittances";
import { useMay } from "../../api/operator-session";
import { BackLink } from "../../components/back-link";
import { CashLate } from "../../components/cash-status";
import type { Column } from "../../components/data-table";
import { DenseCard } from "../../components/dense-card";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { ExportList } from "../../components/export-list";
import { ListSection } from "../../components/list-section";
import { Money, moneyColumn } from "../../components/money";
import { PageHeader } from "../../components/page-header";
import { remittanceCard, remittanceColumns } from "../../components/remittance-columns";
import { useUrlFilter } from "../../components/use-url-filter";
import { orderCount } from "../../format/cash-labels";
import { formatDay } from "../../format/day";
import { RemittanceDialog } from "./remittance-dialog";
import { UploadButton } from "./upload-button";

export function Component() {
  const { businessId = "" } = useParams();
  const { data: business } = useBusiness(businessId);
  const name = business?.name ?? businessId;
  const maySettle = useMay("credit_wallets");
  const [csv, setCsv] = useState<string | null>(null);
  return (
    <>
      <BackLink to="/operator/cash">Cash on delivery</BackLink>
      <PageHeader
        title={`Cash of ${name}`}
        description={`${maySettle ? "Record each bank transfer to the business with the orders that it pays out." : "The bank transfers to the business, and the cash that none has paid out yet."} The orders of a transfer are settled at once, and the business sees which transfer paid which order.`}
      />
      <Stack gap="md">
        <CashToSettle businessId={businessId} onSettle={setCsv} />
        <Remittances businessId={businessId} />
      </Stack>
      <RemittanceDialog businessId={businessId} name={name} csv={csv} onClose={() => setCsv(null)} />
    </>
  );
}

interface CashToSettleProps {
  businessId: string;
  onSettle: (csv: string) => void;
}

/** The cash that the operator holds. Orders are chosen here, or come from a file. */
function CashToSettle({ businessId, onSettle }: CashToSettleProps) {
  const { filter, change } = useUrlFilter<{ late?: "true" }>(["late"]);
  const isLate = filter.late === "true";
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const maySettle = useMay("credit_wallets");
  const cash = useCashToSettle(businessId, isLate);
  const toggle = (order: string) => {
    const next = new Set(chosen);
    if (!next.delete(order)) next.add(order);
    setChosen(next);
  };
  const choice = choiceOf(chosen, toggle);
  const shown = cash.rows.filter((row) => chosen.has(row.orderId)).map((row) => row.orderId);
  const all = cash.rows.length > 0 && shown.length === cash.rows.length;
  const toggleAll = () => setChosen(all ? new Set() : new Set(cash.rows.map((row) => row.orderId)));
  return (
    <ListSection
      title="Cash to settle"
      description="Cash that was handed over to you and is not paid out. What settled orders lack is not in this list, but in the sum “With you”, until their discrepancies are closed. A CSV file has a line for each order: its id or reference, the amount in rupees if it differs from what was handed over, and then a note."
      label="Cash to settle"
      actions={
        <Group gap="sm">
          <Switch
            label="Only late"
            checked={isLate}
            onChange={(event) => change({ late: event.currentTarget.checked ? "true" : undefined })}
          />
          <ExportList
            scope="operator"
            days="Orders that were delivered"
            begin={(format, { from, until }) =>
              exportCashOf(businessId, {
                status: "handed_over",
                late: isLate || undefined,
                dueFrom: from,
                dueUntil: until,
                format,
              })
            }
          />
          {maySettle && (
            <>
              <UploadButton onText={onSettle}>Upload CSV</UploadButton>
              <Button
                size="xs"
                disabled={shown.length === 0}
                onClick={() => onSettle(`order\n${shown.join("\n")}`)}
              >
                {shown.length === 0 ? "Settle" : `Settle ${orderCount(shown.length)}`}
              </Button>
            </>
          )}
        </Group>
      }
      list={cash}
      columns={maySettle ? [choice, ...COLUMNS] : COLUMNS}
      card={(row) => <SettleCard cash={row} choice={maySettle && choice.render(row)} />}
      rowKey={(row) => row.orderId}
      showsCount
      empty={
        isLate ? (
          <NoMatches onClear={() => change({ late: undefined })}>
            No cash that you hold is past its promised day. Late cash that is still with drivers is not in
            this list.
          </NoMatches>
        ) : (
          <EmptyState icon={<IconCash size={28} />} title="Nothing to settle">
            Cash appears here when it is reported as handed over.
          </EmptyState>
        )
      }
    >
      {maySettle && cash.rows.length > 0 && (
        <Group px="md" pb="xs">
          <Checkbox
            label="Choose all shown orders"
            checked={all}
            indeterminate={shown.length > 0 && !all}
            onChange={toggleAll}
          />
        </Group>
      )}
    </ListSection>
  );
}

const COLUMNS: Column<Cash>[] = [
  { key: "order", header: "Order", lead: true, render: (cash) => cash.orderReference },
  moneyColumn<Cash>("handedOver", "Handed over", "20%", ({ handedOverPaise }) => handedOverPaise ?? 0),
  moneyColumn<Cash>("expected", "To collect", "20%", ({ expectedPaise }) => expectedPaise),
  { key: "promised", header: "Promised by", width: "20%", render: (cash) => <Promised cash={cash} /> },
];

/** The day that was promised, marked when it is over. */
function Promised({ cash: { promisedOn } }: { cash: Cash }) {
  if (!promisedOn) return "–";
  return (
    <>
      {formatDay(promisedOn)} <CashLate promisedOn={promisedOn} />
    </>
  );
}

/** A row on a phone. */
function SettleCard({ cash, choice }: { cash: Cash; choice: ReactNode }) {
  return (
    <DenseCard>
      <Group gap={8} wrap="nowrap">
        {choice}
        <Text size="sm" truncate>
          {cash.orderReference}
        </Text>
      </Group>
      <Money paise={cash.handedOverPaise ?? 0} />
      <span>
        Promised by <Promised cash={cash} />
      </span>
      <span>
        {cash.expectedPaise != null && (
          <>
            To collect: <Money paise={cash.expectedPaise} />
          </>
        )}
      </span>
    </DenseCard>
  );
}

function choiceOf(chosen: ReadonlySet<string>, toggle: (order: string) => void): Column<Cash> {
  return {
    key: "choice",
    header: "Choose",
    width: "10%",
    render: (cash) => (
      <Checkbox
        aria-label={`Choose ${cash.orderReference}`}
        checked={chosen.has(cash.orderId)}
        onChange={() => toggle(cash.orderId)}
      />
    ),
  };
}

function Remittances({ businessId }: { businessId: string }) {
  const csvUrl = (id: string) => `/v1/operator/businesses/${businessId}/remittances/${id}/orders.csv`;
  return (
    <ListSection
      title="Bank transfers"
      description="What was paid out to the business, newest first."
      list={useRemittancesOf(businessId)}
      columns={remittanceColumns(csvUrl)}
      card={remittanceCard(csvUrl)}
      rowKey={(row) => row.id}
      empty={<EmptyState title="No bank transfers yet">Recorded transfers appear here.</EmptyState>}
    />
  );
}
