import { Anchor, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { Cash } from "../../api/cash";
import { useMay } from "../../api/operator-session";
import { DenseCard } from "../../components/dense-card";
import { Money } from "../../components/money";
import { StatusBadge } from "../../components/status-badge";
import { CASH_STATUSES, cashDifference } from "../../format/cash-labels";
import { statusLabel } from "../../format/status-label";
import { AssignDifference, ownerOf } from "./difference-owner";

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

/** A row on a phone. A discrepancy has a third line, whose beginning names the owner. */
export function CashCard({ cash, children }: { cash: Cash; children: ReactNode }) {
  const { expectedPaise, differenceState } = cash;
  return (
    <DenseCard>
      <span>
        <CashOrder cash={cash} />
      </span>
      <StatusBadge {...statusLabel(CASH_STATUSES, cash.status)} />
      <span>{children}</span>
      <span>{expectedPaise != null && <Money paise={expectedPaise} />}</span>
      {differenceState && (
        <>
          <span>
            {differenceState !== "closed" && "Owner: "}
            {ownerOf(cash)},{" "}
            <Text span inherit c="var(--tone-bad)">
              {cashDifference(cash)}
            </Text>
          </span>
          <AssignDifference cash={cash} />
        </>
      )}
    </DenseCard>
  );
}
