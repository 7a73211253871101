import { Alert, Anchor, Box, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { Order } from "../../api/orders";
import { Fact, Facts } from "../../components/facts";
import { Money } from "../../components/money";
import { Section } from "../../components/section";
import { formatDay } from "../../format/day";
import { CodBadge } from "./order-badges";
import type { Transfer } from "./order-timeline";

interface OrderMoneyProps {
  order: Order;
  transfer: Transfer | undefined;
  /** What the fees of attempts added to the debt of the business. */
  owedPaise: number;
  /** The page of a bank transfer, if there is one for the reader. */
  transferPath?: ((id: string) => string) | undefined;
  /** Whether the staff of the delivery company reads it. */
  isOfStaff?: boolean;
  /** How far the delivery company is with a difference of cash. */
  difference?: { isClosed: boolean; state: ReactNode } | undefined;
}

/** The amounts of the order. */
export function OrderMoney({
  order,
  transfer,
  owedPaise,
  transferPath,
  isOfStaff = false,
  difference,
}: OrderMoneyProps) {
  const { payment } = order;
  const isCod = payment.paymentType === "cod";
  return (
    <Section title="Money">
      <Facts align="end">
        <Fact name="Payment">{isCod ? "Cash on delivery" : "Prepaid"}</Fact>
        <Amount name="Order value" paise={payment.orderValuePaise} />
        <Fact name="Delivery fee">
          {order.mode === "test" && "Free (test order). Live: "}
          <Money paise={payment.deliveryFeePaise} />
        </Fact>
        <Fact name={order.reattemptFeesPaise > 0 ? "Fees" : "Charged to wallet"}>
          {order.mode === "test" ? (
            "None (test order)"
          ) : (
            <Money paise={order.feeChargedPaise + order.reattemptFeesPaise} />
          )}
        </Fact>
        <Amount name="Of it, for further attempts" paise={order.reattemptFeesPaise || null} />
        <Amount name="Of it, added to the debt" paise={owedPaise || null} />
        {order.reattempt && order.status === "failed" && (
          <Amount
            name={`Fee of attempt ${order.reattempt.number}, when it begins`}
            paise={order.reattempt.feePaise || null}
          />
        )}
        <Amount name="Refunded to wallet" paise={order.refundedPaise || null} />
        {!isCod && (
          <Amount
            name={isOfStaff ? "Prepaid to the business" : "Prepaid to you"}
            paise={payment.prepaidAmountPaise}
          />
        )}
        {isCod && (
          <>
            <Amount
              name={order.codStatus === "not_applicable" ? "Cash not collected" : "Cash to collect"}
              paise={payment.codAmountPaise}
            />
            <Fact name="Cash status">
              <CodBadge order={order} />
            </Fact>
            <Amount name="Collected" paise={order.codCollectedPaise} />
            <Amount name="Handed over" paise={order.codHandedOverPaise} />
            <Amount name="Settled" paise={order.codSettledPaise} />
            <Amount
              name={difference?.isClosed ? "Difference, closed" : "Difference"}
              paise={order.codDifferencePaise}
            />
            {transfer && (
              <Fact name={`Paid on ${formatDay(transfer.paidOn)}`}>
                {transferPath ? (
                  <Anchor component={Link} to={transferPath(transfer.id)} inherit>
                    {transfer.bankReference}
                  </Anchor>
                ) : (
                  transfer.bankReference
                )}
              </Fact>
            )}
          </>
        )}
      </Facts>
      {typeof order.codDiscrepancyPaise === "number" && (
        <Alert
          color={difference?.isClosed ? "gray" : "yellow"}
          variant="light"
          mt="md"
          icon={<IconAlertTriangle aria-hidden />}
        >
          <Discrepancy order={order} payer={isOfStaff ? "You" : "Your delivery company"} />
        </Alert>
      )}
      {difference && <Box mt="md">{difference.state}</Box>}
    </Section>
  );
}

/** Who reported another amount than the expected one, and what the business got. */
function Discrepancy({ order, payer }: { order: Order; payer: string }) {
  const { codCollectedPaise: collected, codHandedOverPaise: handedOver, codSettledPaise: settled } = order;
  const expected = order.payment.codAmountPaise ?? 0;
  const owed = Math.max(expected, collected ?? 0);
  const differs = (paise: number | null | undefined): paise is number =>
    typeof paise === "number" && paise !== expected;
  return (
    <>
      {differs(collected) && (
        <Text>
          The driver reported <Money paise={collected} /> instead of <Money paise={expected} />.
        </Text>
      )}
      {differs(handedOver) && handedOver !== collected && (
        <Text>
          The driver handed over <Money paise={handedOver} /> instead of <Money paise={expected} />.
        </Text>
      )}
      {typeof settled === "number" && (
        <Text>
          {payer} settled <Money paise={settled} />
          {settled === owed ? (
            ", the whole amount."
          ) : (
            <>
              {" "}
              instead of <Money paise={owed} />.
            </>
          )}
        </Text>
      )}
    </>
  );
}

function Amount({ name, paise }: { name: string; paise: number | null | undefined }) {
  if (paise === null || paise === undefined) return null;
  return (
    <Fact name={name}>
      <Money paise={paise} />
    </Fact>
  );
}
