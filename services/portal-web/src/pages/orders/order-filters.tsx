import { Group, NativeSelect } from "@mantine/core";
import type { OrderFilter } from "../../api/orders";
import { SearchField } from "../../components/search-field";
import { StatusBadge } from "../../components/status-badge";
import { DELIVERY_STATUSES } from "../../format/order-labels";
import { choices } from "../../format/status-label";
import classes from "./orders.module.css";

interface OrderFiltersProps {
  filter: OrderFilter;
  onChange: (change: Partial<OrderFilter>) => void;
  isStreaming: boolean;
}

export function OrderFilters({ filter, onChange, isStreaming }: OrderFiltersProps) {
  return (
    <Group gap="sm" mb="sm">
      <SearchField
        className={classes.search}
        label="Find an order"
        placeholder="Order id, tracking code or reference"
        value={filter.search}
        onChange={(search) => onChange({ search })}
      />
      <NativeSelect
        aria-label="Status"
        value={filter.status ?? ""}
        onChange={(event) =>
          onChange({ status: (event.currentTarget.value || undefined) as OrderFilter["status"] })
        }
        data={[{ value: "", label: "Any status" }, ...choices(DELIVERY_STATUSES)]}
      />
      <span className={classes.liveness} role="status">
        {isStreaming ? (
          <StatusBadge tone="good" label="Updating" />
        ) : (
          <StatusBadge tone="idle" label="Connecting…" />
        )}
      </span>
    </Group>
  );
}
