import { Anchor, Group, NativeSelect } from "@mantine/core";
import { Link, useSearchParams } from "react-router-dom";
import { exportOrdersOf } from "../../api/exports";
import { type OrdersOfBusinessFilter, useOrdersOfBusiness } from "../../api/operator-businesses";
import type { Order } from "../../api/orders";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { ExportList } from "../../components/export-list";
import linked from "../../components/linked-rows.module.css";
import { ListSection } from "../../components/list-section";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../../format/order-labels";
import { choices } from "../../format/status-label";
import { OrderCard, orderColumns } from "../orders/orders-table";

/** The orders of a business, newest first. */
export function BusinessOrders({ businessId }: { businessId: string }) {
  const [filter, change] = useFilter();
  return (
    <ListSection
      title="Orders"
      description={
        <Anchor component={Link} to={`/operator/exceptions?businessId=${businessId}`} size="sm">
          Those that need attention
        </Anchor>
      }
      actions={
        <>
          <Filters filter={filter} onChange={change} />
          <ExportList
            scope="operator"
            days="Orders that were placed"
            begin={(format, { from, until }) =>
              exportOrdersOf(businessId, { ...filter, createdFrom: from, createdUntil: until, format })
            }
          />
        </>
      }
      list={useOrdersOfBusiness(businessId, filter)}
      failed="The orders could not be loaded"
      columns={COLUMNS}
      card={(order) => <OrderCard order={order} path={path(order)} />}
      rowKey={(order) => order.id}
      rowClass={() => linked.row}
      showsCount
      empty={
        filter.status ? (
          <NoMatches onClear={() => change({ status: undefined })}>Choose another status.</NoMatches>
        ) : (
          <EmptyState title={`No ${filter.mode} orders yet`}>Orders of the business appear here.</EmptyState>
        )
      }
    />
  );
}

const COLUMNS = orderColumns(path);

/** The page that finds an order shows all of it. */
function path({ id }: Order): string {
  return `/operator/orders?code=${id}`;
}

type Filter = OrdersOfBusinessFilter & { mode: "live" | "test" };

/** Kept in the URL, next to the tab. */
function useFilter(): [Filter, (changed: Partial<Filter>) => void] {
  const [search, setSearch] = useSearchParams();
  const status = search.get("status") ?? "";
  const filter: Filter = {
    mode: search.get("mode") === "test" ? "test" : "live",
    status: status in DELIVERY_STATUSES ? (status as DeliveryStatus) : undefined,
  };
  function change(changed: Partial<Filter>) {
    const next = { tab: "orders", ...filter, ...changed };
    const given = Object.entries(next).filter(([, value]) => value);
    setSearch(Object.fromEntries(given) as Record<string, string>, { replace: true });
  }
  return [filter, change];
}

function Filters({ filter, onChange }: { filter: Filter; onChange: (changed: Partial<Filter>) => void }) {
  return (
    <Group gap="xs">
      <NativeSelect
        aria-label="Mode"
        size="xs"
        value={filter.mode}
        onChange={(event) => onChange({ mode: event.currentTarget.value === "test" ? "test" : "live" })}
        data={[
          { value: "live", label: "Live orders" },
          { value: "test", label: "Test orders" },
        ]}
      />
      <NativeSelect
        aria-label="Order status"
        size="xs"
        value={filter.status ?? ""}
        onChange={(event) =>
          onChange({ status: (event.currentTarget.value || undefined) as DeliveryStatus | undefined })
        }
        data={[{ value: "", label: "Any status" }, ...choices(DELIVERY_STATUSES)]}
      />
    </Group>
  );
}
