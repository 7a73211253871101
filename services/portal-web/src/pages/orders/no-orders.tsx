import { Button } from "@mantine/core";
import { IconPackage, IconSearch } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import type { Order, OrderFilter } from "../../api/orders";
import { CallButton } from "../../components/call-button";
import { EmptyState, NoMatches } from "../../components/empty-state";

interface NoOrdersProps {
  filter: OrderFilter;
  /** What the search finds in the other mode. */
  elsewhere: Order[];
  onChange: (change: Partial<OrderFilter>) => void;
}

/** Explains an empty list of orders. */
export function NoOrders({ filter, elsewhere, onChange }: NoOrdersProps) {
  const [hit] = elsewhere;
  if (hit) {
    return (
      <EmptyState
        icon={<IconSearch size={28} />}
        title={`No ${filter.mode} order matches, but a ${hit.mode} order does`}
        action={
          <CallButton
            variant="default"
            size="xs"
            onClick={() => onChange({ mode: hit.mode, status: undefined })}
          >
            {hit.mode === "live" ? "Show in live orders" : "Show in test orders"}
          </CallButton>
        }
      >
        {hit.orderReference}, {hit.trackingCode}
      </EmptyState>
    );
  }
  if (filter.search || filter.status) {
    return (
      <NoMatches
        icon={<IconSearch size={28} />}
        title={filter.search ? "No matching order" : "No order has this status"}
        clear="Show all orders"
        onClear={() => onChange({ status: undefined, search: undefined })}
      >
        {filter.search
          ? "Enter the full order reference, tracking code or order id."
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
