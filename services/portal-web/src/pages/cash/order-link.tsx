import { Anchor } from "@mantine/core";
import { Link } from "react-router-dom";
import type { Cash } from "../../api/cash";

/** The order of a row of cash. */
export function OrderLink({ of }: { of: Pick<Cash, "orderId" | "orderReference"> }) {
  return (
    <Anchor component={Link} to={`/orders/${of.orderId}`} size="sm">
      {of.orderReference}
    </Anchor>
  );
}
