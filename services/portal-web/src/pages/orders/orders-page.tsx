import { Tabs } from "@mantine/core";
import type { OrderFilter } from "../../api/orders";
import { useLiveOrders } from "../../api/orders";
import type { Mode } from "../../api/types";
import { PageHeader } from "../../components/page-header";
import { NoOrders } from "./no-orders";
import { OrderFilters } from "./order-filters";
import { OrdersTable } from "./orders-table";
import { useNewOrders } from "./use-new-orders";
import { useOrderFilter } from "./use-order-filter";

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
      <Tabs
        value={filter.mode}
        onChange={(mode) => change({ mode: mode as Mode, status: undefined, search: undefined })}
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
            <Orders filter={filter} onChange={change} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}

interface OrdersProps {
  filter: OrderFilter;
  onChange: (change: Partial<OrderFilter>) => void;
}

function Orders({ filter, onChange }: OrdersProps) {
  const orders = useLiveOrders(filter);
  const latest = useNewOrders(orders.data && orders.rows, filter);
  return (
    <>
      <OrderFilters filter={filter} onChange={onChange} isStreaming={orders.isStreaming} />
      <OrdersTable
        orders={orders}
        mode={filter.mode}
        latest={latest}
        empty={
          <NoOrders filter={filter} onClear={() => onChange({ status: undefined, search: undefined })} />
        }
      />
    </>
  );
}
