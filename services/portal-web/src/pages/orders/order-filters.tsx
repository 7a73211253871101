import { Button, Collapse, Group, NativeSelect } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFilter } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { OrderFilter } from "../../api/orders";
import { useSearchHint } from "../../app/use-search-hint";
import { PeriodFields } from "../../components/period-fields";
import { SearchField } from "../../components/search-field";
import { StatusBadge } from "../../components/status-badge";
import { COD_STATUSES, DELIVERY_STATUSES } from "../../format/order-labels";
import { choices } from "../../format/status-label";
import classes from "./orders.module.css";
import { PAYMENT_TYPES } from "./use-order-filter";

interface OrderFiltersProps {
  filter: OrderFilter;
  onChange: (change: Partial<OrderFilter>) => void;
  isStreaming: boolean;
  /** A further button. */
  children: ReactNode;
}

export function OrderFilters({ filter, onChange, isStreaming, children }: OrderFiltersProps) {
  const { paymentType, codStatus, from, to } = filter;
  const more = [paymentType, codStatus, from, to].filter(Boolean).length;
  const [isOpen, { toggle }] = useDisclosure(more > 0);
  return (
    <>
      <Group gap="sm" mb="sm">
        <SearchField
          className={classes.search}
          label="Find an order"
          placeholder={useSearchHint().placeholder}
          value={filter.search}
          onChange={(search) => onChange({ search })}
        />
        <NativeSelect
          aria-label="Status"
          value={filter.status ?? ""}
          onChange={(event) => onChange({ status: chosen<OrderFilter["status"]>(event) })}
          data={[{ value: "", label: "Any status" }, ...choices(DELIVERY_STATUSES)]}
        />
        <Button
          variant="default"
          leftSection={<IconFilter size={15} aria-hidden />}
          onClick={toggle}
          aria-expanded={isOpen}
          aria-controls="more-filters"
        >
          {more > 0 ? `Filters (${more})` : "Filters"}
        </Button>
        {children}
        <span className={classes.liveness} role="status">
          {filter.search ? null : isStreaming ? (
            <StatusBadge tone="good" label="Updating" />
          ) : (
            <StatusBadge tone="idle" label="Connecting…" />
          )}
        </span>
      </Group>
      <Collapse id="more-filters" expanded={isOpen}>
        <Group gap="sm" mb="sm" align="flex-start">
          <NativeSelect
            size="xs"
            label="Payment"
            value={paymentType ?? ""}
            onChange={(event) => onChange({ paymentType: chosen<OrderFilter["paymentType"]>(event) })}
            data={[{ value: "", label: "Any payment" }, ...named(PAYMENT_TYPES)]}
          />
          <NativeSelect
            size="xs"
            label="Cash"
            value={codStatus ?? ""}
            onChange={(event) => onChange({ codStatus: chosen<OrderFilter["codStatus"]>(event) })}
            data={[{ value: "", label: "Any cash status" }, ...choices(COD_STATUSES)]}
          />
          <PeriodFields period={{ from, to }} onChange={onChange} />
        </Group>
      </Collapse>
    </>
  );
}

function chosen<Value>(event: { currentTarget: HTMLSelectElement }): Value {
  return (event.currentTarget.value || undefined) as Value;
}

function named(labels: Record<string, string>) {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}
