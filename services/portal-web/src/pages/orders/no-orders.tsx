import { Button } from "@mantine/core";
import { IconPackage, IconSearch } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import type { OrderFilter } from "../../api/orders";
import { EmptyState, NoMatches } from "../../components/empty-state";

/** Explains an empty list of orders. */
export function NoOrders({ filter, onClear }: { filter: OrderFilter; onClear: () => void }) {
  if (filter.search || filter.status) {
    return (
      <NoMatches
        icon={<IconSearch size={28} />}
        title={filter.search ? "No matching order" : "No order has this status"}
        clear="Show all orders"
        onClear={onClear}
      >
        {filter.search
          ? `Enter the full order reference, tracking code or order id. Only ${filter.mode} orders are searched; the other tab has the ${filter.mode === "test" ? "live" : "test"} orders.`
          : "Orders appear here when they reach this status."}
      </NoMatches>
    );
  }
  const guide = (
    <Button component={Link} to="/" variant="default" size="xs">
      {filter.mode === "test" ? "Open the quick start" : "See the go-live checklist"}
    </Button>
  );
  return (
    <EmptyState
      icon={<IconPackage size={28} />}
      title={filter.mode === "test" ? "No test orders yet" : "No live orders yet"}
      action={guide}
    >
      {filter.mode === "test"
        ? "Send an order with your Test key. It appears here within seconds, is free and gets no driver. You simulate its delivery."
        : "Orders sent with your Live key appear here. They are paid from the wallet and get a driver."}
    </EmptyState>
  );
}
