import { Anchor } from "@mantine/core";
import { Link } from "react-router-dom";
import type { Cash } from "../../api/cash";
import { useMay } from "../../api/operator-session";

/** The order of a row of cash. Its page is for roles that read orders. */
export function CashOrder({ cash: { orderId, orderReference } }: { cash: Cash }) {
  const mayRead = useMay("read_orders");
  if (!mayRead) return orderReference;
  return (
    <Anchor component={Link} to={`/operator/orders?search=${orderId}`} size="sm">
      {orderReference}
    </Anchor>
  );
}
