import { Tabs } from "@mantine/core";
import { exportOrders } from "../../api/exports";
import { type OrderFilter, queryOf, useLiveOrders, useQuickSearch } from "../../api/orders";
import type { Mode } from "../../api/types";
import { ExportList } from "../../components/export-list";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { useValidPeriod } from "../../components/use-valid-period";
import { NoOrders } from "./no-orders";
import { OrderFilters } from "./order-filters";
import { OrdersTable } from "./orders-table";
import { useNewOrders } from "./use-new-orders";
import { NO_FILTER, useOrderFilter } from "./use-order-filter";

const MODES: { mode: Mode; label: string }[] = [
  { mode: "test", label: "Test orders" },
  { mode: "live", label: "Live orders" },
];

export function Component() {
  const { filter, change } = useOrderFilter();
  return (
    <>
      <PageHeader
        title="Orders"
        description="All orders of your backend, newest first. New orders appear automatically."
      />
      {filter ? (
        <OrdersOfMode filter={filter} onChange={change} />
      ) : (
        <Loading what="Loading the orders" height={360} radius="lg" />
      )}
    </>
  );
}

function OrdersOfMode({ filter, onChange }: OrdersProps) {
  return (
    <Tabs
      value={filter.mode}
      onChange={(mode) => onChange({ ...NO_FILTER, mode: mode as Mode })}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {MODES.map(({ mode, label }) => (
          <Tabs.Tab key={mode} value={mode}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {MODES.map(({ mode }) => (
        <Tabs.Panel key={mode} value={mode}>
          <Orders filter={filter} onChange={onChange} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

interface OrdersProps {
  filter: OrderFilter;
  onChange: (change: Partial<OrderFilter>) => void;
}

function Orders({ filter, onChange }: OrdersProps) {
  const valid = { ...filter, ...useValidPeriod(filter) };
  const orders = useLiveOrders(valid);
  const hasNone = orders.data !== undefined && orders.rows.length === 0;
  const elsewhere = useQuickSearch(filter.search, filter.mode === "live" ? "test" : "live", hasNone);
  const latest = useNewOrders(orders.data && orders.rows, filter);
  const search = (change: Partial<OrderFilter>) =>
    change.search && change.search === filter.search ? void orders.refetch() : onChange(change);
  return (
    <>
      <OrderFilters filter={filter} onChange={search} isStreaming={orders.isStreaming}>
        <ExportList scope="portal" begin={(format) => exportOrders({ ...queryOf(valid), format })} />
      </OrderFilters>
      <OrdersTable
        orders={orders}
        mode={filter.mode}
        latest={latest}
        empty={
          <NoOrders
            filter={filter}
            elsewhere={elsewhere.data ?? []}
            goesOn={orders.hasNextPage}
            onChange={onChange}
          />
        }
      />
    </>
  );
}
