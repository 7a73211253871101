import { Alert, Anchor, Button, Checkbox, Group, Paper, SegmentedControl, Text } from "@mantine/core";
import { IconCircleCheck } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router-dom";
import { type Decision, type ExceptionKind, type Exceptions, useExceptions } from "../../api/after-failure";
import { useCash } from "../../api/cash";
import type { Order } from "../../api/orders";
import { useMay } from "../../app/session";
import { type Column, DataTable } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { Money } from "../../components/money";
import { PageHeader } from "../../components/page-header";
import { useUrlFilter } from "../../components/use-url-filter";
import { LATE_CASH, orderCount } from "../../format/cash-labels";
import { COLUMNS } from "./columns";
import { DecideAll } from "./decide-all";
import classes from "./exceptions.module.css";

const KINDS: Record<ExceptionKind, { label: string; none: string }> = {
  failed: { label: "Failed", none: "No failed delivery waits for your decision." },
  unassigned: { label: "No driver", none: "Every order has a driver, or is new." },
  stuck: { label: "No news", none: "The fleet reported about every parcel on its way." },
};
const NAMES = Object.keys(KINDS) as ExceptionKind[];
const COUNTED_MAX = 1000;

export function Component() {
  const { filter, change } = useUrlFilter<{ kind?: ExceptionKind }>(["kind"]);
  const kind = NAMES.find((name) => name === filter.kind) ?? "failed";
  const exceptions = useExceptions(kind);
  const seesMoney = useMay("read_money");
  const counted = (name: ExceptionKind) => {
    const count = exceptions.data?.counts[name];
    if (count === undefined) return KINDS[name].label;
    return `${KINDS[name].label} (${count >= COUNTED_MAX ? "1,000+" : count})`;
  };
  return (
    <>
      <PageHeader title="Needs attention" description="Live orders that do not move on by themselves." />
      {seesMoney && <LateCash />}
      <SegmentedControl
        aria-label="Kind"
        mb="md"
        value={kind}
        onChange={(chosen) => change({ kind: chosen as ExceptionKind })}
        data={NAMES.map((name) => ({ value: name, label: counted(name) }))}
      />
      {exceptions.error && !exceptions.data ? (
        <ErrorState error={exceptions.error} onRetry={() => exceptions.refetch()} />
      ) : (
        <Orders key={kind} kind={kind} page={exceptions.data} isLoading={exceptions.isPending} />
      )}
    </>
  );
}

/** Cash that was not settled by its promised day. */
function LateCash() {
  const { totals } = useCash({ late: true });
  if (!totals || totals.lateOrders === 0) return null;
  return (
    <Alert color="yellow" variant="light" mb="md" title="Cash late">
      <Money paise={totals.latePaise} /> of {orderCount(totals.lateOrders)} is past its promised day.{" "}
      <Anchor component={Link} to={LATE_CASH} size="sm">
        Show the orders
      </Anchor>
    </Alert>
  );
}

interface OrdersProps {
  kind: ExceptionKind;
  page: Exceptions | undefined;
  isLoading: boolean;
}

function Orders({ kind, page, isLoading }: OrdersProps) {
  const canDecide = useMay("cancel_orders") && kind === "failed";
  const [selected, setSelected] = useState<string[]>([]);
  const [action, setAction] = useState<Decision["action"] | null>(null);
  const rows = page?.data ?? [];
  const chosen = rows.filter((order) => selected.includes(order.id));
  const select = {
    key: "select",
    header: "Select",
    width: "5%",
    render: (order: Order) => (
      <Checkbox
        aria-label={`Select ${order.orderReference}`}
        checked={selected.includes(order.id)}
        onChange={(event) => {
          const others = selected.filter((id) => id !== order.id);
          setSelected(event.currentTarget.checked ? [...others, order.id] : others);
        }}
      />
    ),
  } satisfies Column<Order>;
  return (
    <Paper style={{ overflow: "clip" }}>
      {canDecide && rows.length > 0 && (
        <Group gap="xs" p="md" className={classes.bar}>
          <Checkbox
            label="Select all"
            checked={chosen.length === rows.length}
            indeterminate={chosen.length > 0 && chosen.length < rows.length}
            onChange={(event) => setSelected(event.currentTarget.checked ? rows.map(({ id }) => id) : [])}
          />
          <Button size="xs" disabled={chosen.length === 0} onClick={() => setAction("reattempt")}>
            Attempt again
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={chosen.length === 0}
            onClick={() => setAction("return")}
          >
            Request return
          </Button>
        </Group>
      )}
      <DataTable
        label={KINDS[kind].label}
        columns={canDecide ? [select, ...COLUMNS] : COLUMNS}
        rows={rows}
        rowKey={(order) => order.id}
        isLoading={isLoading}
        empty={
          <EmptyState icon={<IconCircleCheck size={28} />} title="Nothing needs you here">
            {KINDS[kind].none}
          </EmptyState>
        }
      />
      {page?.hasMore && (
        <Alert variant="light" m="md">
          <Text>There are more. The newest 100 are listed; older ones follow as these are settled.</Text>
        </Alert>
      )}
      {action && page && (
        <DecideAll
          action={action}
          orders={chosen}
          attemptsMax={page.attemptsMax}
          onClose={() => {
            setAction(null);
            setSelected([]);
          }}
        />
      )}
    </Paper>
  );
}
