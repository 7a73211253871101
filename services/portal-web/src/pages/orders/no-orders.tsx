import { Button } from "@mantine/core";
import { IconPackage, IconSearch } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import type { OrderFilter } from "../../api/orders";
import { EmptyState, NothingFits } from "../../components/empty-state";

/** Why there is nothing to see, and how the first order comes. */
export function NoOrders({ filter, onClear }: { filter: OrderFilter; onClear: () => void }) {
  if (filter.search || filter.status) {
    return (
      <NothingFits
        icon={<IconSearch size={28} />}
        title={filter.search ? "No order has exactly this name" : "No order has this status"}
        clear="Show all orders"
        onClear={onClear}
      >
        {filter.search
          ? `Enter one of these in full: your own order reference, exactly as you sent it; the tracking code; or the order id. Only ${filter.mode} orders are searched here: the other tab has the ${filter.mode === "test" ? "live" : "test"} ones.`
          : "Orders that reach it appear here by themselves."}
      </NothingFits>
    );
  }
  const guide = (
    <Button component={Link} to="/" variant="default" size="xs">
      {filter.mode === "test" ? "Open the quick start" : "See what is left to do"}
    </Button>
  );
  return (
    <EmptyState
      icon={<IconPackage size={28} />}
      title={filter.mode === "test" ? "No test orders yet" : "No live orders yet"}
      action={guide}
    >
      {filter.mode === "test"
        ? "Send an order with your Test key. It appears here within seconds, costs nothing and gets no driver; you move it on yourself."
        : "An order sent with your Live key appears here, is paid from the wallet, and gets a driver."}
    </EmptyState>
  );
}
