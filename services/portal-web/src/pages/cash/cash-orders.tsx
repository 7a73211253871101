import { Anchor, Group, NativeSelect, Switch, Text } from "@mantine/core";
import { IconCash } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import type { Cash, CashFilter, useCash } from "../../api/cash";
import { exportCash } from "../../api/exports";
import { CashLate, CashStatus, CashTime } from "../../components/cash-status";
import type { Column } from "../../components/data-table";
import { DenseCard } from "../../components/dense-card";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { ExportList } from "../../components/export-list";
import { ListSection } from "../../components/list-section";
import { Money, moneyColumn } from "../../components/money";
import { StatusBadge } from "../../components/status-badge";
import { CASH_STATUSES, cashDifference, orderCount } from "../../format/cash-labels";
import { formatDay } from "../../format/day";
import { choices, statusLabel } from "../../format/status-label";
import { OrderLink } from "./order-link";

const COLUMNS: Column<Cash>[] = [
  { key: "order", header: "Order", lead: true, render: (cash) => <OrderLink of={cash} /> },
  { key: "standing", header: "Cash", width: "26%", render: (cash) => <CashStatus cash={cash} /> },
  moneyColumn<Cash>("expected", "To collect", "15%", ({ expectedPaise }) => expectedPaise),
  moneyColumn<Cash>("settled", "Settled", "15%", ({ settledPaise }) => settledPaise),
  { key: "since", header: "Your money", width: "22%", render: (cash) => <WhereIsTheMoney cash={cash} /> },
];

interface CashOrdersProps {
  cash: ReturnType<typeof useCash>;
  filter: CashFilter;
  onChange: (changed: CashFilter) => void;
}

/** Orders with cash on delivery, newest first. */
export function CashOrders({ cash, filter, onChange }: CashOrdersProps) {
  const isFiltered = Boolean(filter.status || filter.differs || filter.discrepant || filter.late);
  return (
    <ListSection
      title="Orders"
      label="Orders with cash"
      actions={
        <>
          <Filters filter={filter} onChange={onChange} />
          <ExportList
            scope="portal"
            days="Orders that were delivered"
            begin={(format, { from, until }) =>
              exportCash({ ...filter, dueFrom: from, dueUntil: until, format })
            }
          />
        </>
      }
      list={cash}
      columns={COLUMNS}
      card={(row) => <CashCard cash={row} />}
      rowKey={(row) => row.orderId}
      showsCount
      empty={
        <NoCash
          isFiltered={isFiltered}
          onClear={() =>
            onChange({ status: undefined, differs: undefined, discrepant: undefined, late: undefined })
          }
        />
      }
    >
      {cash.rows.length > 0 && <ListedTotal listed={cash.rows} />}
    </ListSection>
  );
}

/** How far the delivery company is with a difference, in the space of a phone. */
const SHORT_STATES: Record<string, string> = { assigned: "Being cleared", closed: "Closed" };

/** A row on a phone. */
function CashCard({ cash }: { cash: Cash }) {
  const { expectedPaise, differenceState } = cash;
  const isClosed = differenceState === "closed";
  return (
    <DenseCard>
      <OrderLink of={cash} />
      <StatusBadge {...statusLabel(CASH_STATUSES, cash.status)} />
      <span>
        <WhereIsTheMoney cash={cash} />
      </span>
      <span>
        {expectedPaise != null && (
          <>
            To collect <Money paise={expectedPaise} />
          </>
        )}
      </span>
      {differenceState && (
        <>
          <Text span size="xs" c={isClosed ? undefined : "var(--tone-bad)"}>
            {cashDifference(cash)}
          </Text>
          <span>{SHORT_STATES[differenceState]}</span>
        </>
      )}
    </DenseCard>
  );
}

/** The sums of the rows that are shown. */
function ListedTotal({ listed }: { listed: Cash[] }) {
  const sum = (pick: (cash: Cash) => number | null | undefined) =>
    listed.reduce((total, cash) => total + (pick(cash) ?? 0), 0);
  return (
    <Text c="dimmed" px="md" pb="xs">
      {orderCount(listed.length)} shown: <Money paise={sum((cash) => cash.expectedPaise)} /> to collect,{" "}
      <Money paise={sum((cash) => cash.settledPaise)} /> settled.
    </Text>
  );
}

function Filters({ filter, onChange }: Omit<CashOrdersProps, "cash">) {
  return (
    <Group gap="md">
      <Switch
        label="Only late"
        checked={filter.late ?? false}
        onChange={(event) => onChange({ late: event.currentTarget.checked || undefined })}
      />
      <Switch
        label="Only open discrepancies"
        checked={filter.discrepant ?? false}
        onChange={(event) => onChange({ discrepant: event.currentTarget.checked || undefined })}
      />
      <Switch
        label="Only discrepancies"
        checked={filter.differs ?? false}
        onChange={(event) => onChange({ differs: event.currentTarget.checked || undefined })}
      />
      <NativeSelect
        aria-label="Cash status"
        size="xs"
        value={filter.status ?? ""}
        onChange={(event) => onChange({ status: event.currentTarget.value || undefined })}
        data={[{ value: "", label: "Any status" }, ...choices(CASH_STATUSES)]}
      />
    </Group>
  );
}

/** The bank transfer that paid the order, or the day by which it is promised. */
function WhereIsTheMoney({ cash }: { cash: Cash }) {
  const { remittance, promisedOn, settledAt } = cash;
  if (remittance) {
    return (
      <>
        Paid on {formatDay(remittance.paidOn)} with{" "}
        <Anchor component={Link} to={`/cash-on-delivery/remittances/${remittance.id}`} inherit>
          {remittance.bankReference}
        </Anchor>
      </>
    );
  }
  if (settledAt || !promisedOn) return <CashTime cash={cash} />;
  return (
    <>
      Promised by {formatDay(promisedOn)} <CashLate promisedOn={promisedOn} />
    </>
  );
}

function NoCash({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered) {
    return <NoMatches onClear={onClear}>Choose another status.</NoMatches>;
  }
  return (
    <EmptyState icon={<IconCash size={28} />} title="No cash on delivery yet">
      Live orders with payment type cod appear here after their delivery.
    </EmptyState>
  );
}
