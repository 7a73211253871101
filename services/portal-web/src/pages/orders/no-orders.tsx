import { Button } from "@mantine/core";
import { IconPackage, IconSearch } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import type { Order, OrderFilter } from "../../api/orders";
import { useSearchHint } from "../../app/use-search-hint";
import { CallButton } from "../../components/call-button";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { NO_FILTER } from "./use-order-filter";

interface NoOrdersProps {
  filter: OrderFilter;
  /** What the search finds in the other mode. */
  elsewhere: Order[];
  /** Whether older orders follow, because a page of a search looks at a bounded number of them. */
  goesOn: boolean;
  onChange: (change: Partial<OrderFilter>) => void;
}

/** Explains an empty list of orders. */
export function NoOrders({ filter, elsewhere, goesOn, onChange }: NoOrdersProps) {
  const { mode, ...others } = filter;
  const [hit] = elsewhere;
  const { limits } = useSearchHint();
  if (goesOn) {
    return (
      <EmptyState icon={<IconSearch size={28} />} title="No match among the newest orders">
        Show more to search older orders, or choose a period.
      </EmptyState>
    );
  }
  if (hit) {
    return (
      <EmptyState
        icon={<IconSearch size={28} />}
        title={`No ${mode} order matches, but a ${hit.mode} order does`}
        action={
          <CallButton
            variant="default"
            size="xs"
            onClick={() => onChange({ ...NO_FILTER, mode: hit.mode, search: filter.search })}
          >
            {hit.mode === "live" ? "Show in live orders" : "Show in test orders"}
          </CallButton>
        }
      >
        {hit.orderReference}, {hit.trackingCode}
      </EmptyState>
    );
  }
  if (Object.values(others).some(Boolean)) {
    return (
      <NoMatches
        icon={<IconSearch size={28} />}
        title="No matching order"
        clear="Show all orders"
        onClear={() => onChange(NO_FILTER)}
      >
        {filter.search
          ? `Enter the beginning of words, the end of a reference, or a whole tracking code or order id. ${limits}`
          : "Orders appear here when they match the filters."}
      </NoMatches>
    );
  }
  const guide = (
    <Button component={Link} to="/" variant="default" size="xs">
      {mode === "test" ? "Open the quick start" : "See the go-live checklist"}
    </Button>
  );
  return (
    <EmptyState
      icon={<IconPackage size={28} />}
      title={mode === "test" ? "No test orders yet" : "No live orders yet"}
      action={guide}
    >
      {mode === "test"
        ? "Send an order with your Test key. It appears here within seconds, is free and gets no driver. You simulate its delivery."
        : "Orders sent with your Live key appear here. They are paid from the wallet and get a driver."}
    </EmptyState>
  );
}
