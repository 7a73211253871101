import { CloseButton, Group, NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import type { OrderFilter } from "../../api/orders";
import { StatusBadge } from "../../components/status-badge";
import { DELIVERY_STATUSES } from "../../format/order-words";
import classes from "./orders.module.css";

const TYPING_PAUSE_MS = 350;
const SEARCH_CHARS_MAX = 200;

interface OrderFiltersProps {
  filter: OrderFilter;
  onChange: (change: Partial<OrderFilter>) => void;
  isStreaming: boolean;
}

export function OrderFilters({ filter, onChange, isStreaming }: OrderFiltersProps) {
  return (
    <Group gap="sm" mb="sm">
      <Search value={filter.search ?? ""} onChange={(search) => onChange({ search })} />
      <NativeSelect
        aria-label="Status"
        value={filter.status ?? ""}
        onChange={(event) => onChange({ status: event.currentTarget.value || undefined })}
        data={[
          { value: "", label: "Any status" },
          ...Object.entries(DELIVERY_STATUSES).map(([value, { label }]) => ({ value, label })),
        ]}
      />
      <span className={classes.liveness} role="status">
        {isStreaming ? (
          <StatusBadge tone="good" label="Updates by itself" />
        ) : (
          <StatusBadge tone="idle" label="Connecting…" />
        )}
      </span>
    </Group>
  );
}

/** Asks when typing has paused, or at once with Enter. */
function Search({ value, onChange }: { value: string; onChange: (search: string | undefined) => void }) {
  const [text, setText] = useState(value);
  const apply = (next: string) => onChange(next.trim() || undefined);
  const applySoon = useDebouncedCallback(apply, TYPING_PAUSE_MS);
  useEffect(() => setText(value), [value]);
  return (
    <TextInput
      className={classes.search}
      aria-label="Find an order"
      placeholder="Order id, tracking code or reference"
      value={text}
      maxLength={SEARCH_CHARS_MAX}
      leftSection={<IconSearch size={15} aria-hidden />}
      rightSection={
        text && (
          <CloseButton
            size="sm"
            aria-label="Clear the search"
            onClick={() => {
              setText("");
              apply("");
            }}
          />
        )
      }
      onChange={(event) => {
        setText(event.currentTarget.value);
        applySoon(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") apply(event.currentTarget.value);
      }}
    />
  );
}
