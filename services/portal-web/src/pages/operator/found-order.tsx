import { Anchor, Badge, Button, Grid, Group, Paper, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense } from "react";
import { Link } from "react-router-dom";
import { useBusinessHealth, useCashOfOrder } from "../../api/operator-businesses";
import {
  type FoundOrder,
  STAFF_DECIDER,
  useEvidenceOfAny,
  useOperatorTimeline,
} from "../../api/operator-orders";
import { useMay } from "../../api/operator-session";
import { CashStatus } from "../../components/cash-status";
import { Time } from "../../components/time";
import { AfterFailure } from "../orders/after-failure";
import { DeliveryBadge } from "../orders/order-badges";
import { type EvidenceSource, OrderEvidence } from "../orders/order-evidence";
import { OrderMoney } from "../orders/order-money";
import { OrderParcel } from "../orders/order-parcel";
import { OrderParties } from "../orders/order-parties";
import { OrderTimeline, owedOf, transferOf } from "../orders/order-timeline";
import { OrderPostings, OrderWebhooks } from "../orders/order-webhooks";

/** With a dialog that few orders need. */
const DifferenceOwner = lazy(async () => ({ default: (await import("./difference-owner")).DifferenceOwner }));

/** A summary of an order. The details are open if it is the only result. */
export function FoundOrderCard({ found, isOnly }: { found: FoundOrder; isOnly: boolean }) {
  const [isOpen, { toggle }] = useDisclosure(isOnly);
  const { business, order } = found;
  const receiver = [order.customer.name, order.delivery.city].filter(Boolean).join(", ");
  return (
    <article aria-label={`Order ${order.orderReference} of ${business.name}`}>
      <Paper p="md">
        <Group justify="space-between" gap="sm">
          <div style={{ flex: "1 1 14rem", overflowWrap: "anywhere" }}>
            <Group gap="sm">
              <Text fw={600}>{order.orderReference}</Text>
              <DeliveryBadge status={order.status} pill />
              <Badge size="md">{order.mode === "test" ? "Test" : "Live"}</Badge>
            </Group>
            <Text c="dimmed" mt={2} component="div">
              <Anchor component={Link} to={`/operator/businesses/${business.id}`} size="sm">
                {business.name}
              </Anchor>{" "}
              · ordered <Time at={order.createdAt} /> · {order.trackingCode}
            </Text>
            {receiver && <Text mt={2}>{receiver}</Text>}
          </div>
          <Button variant="default" size="xs" onClick={toggle} aria-expanded={isOpen}>
            {isOpen ? "Hide details" : "Show details"}
          </Button>
        </Group>
      </Paper>
      {isOpen && <Details found={found} />}
    </article>
  );
}

const EVIDENCE: EvidenceSource = {
  useEvidence: useEvidenceOfAny,
  path: (id) => `/v1/operator/orders/${id}/evidence`,
  advice: "Compare them with those that the webhooks of the business carried.",
};

/** The difference of the order's cash, as the page of the business has it. */
function useDifference({ business, order }: FoundOrder) {
  const isCod = order.mode === "live" && order.payment.paymentType === "cod";
  const { data: cash } = useCashOfOrder(business.id, order.id, useMay("read_cash") && isCod);
  if (!cash || !(cash.discrepant || cash.difference)) return undefined;
  const state = (
    <>
      <CashStatus cash={cash} />
      <Suspense fallback={null}>
        <DifferenceOwner cash={cash} />
      </Suspense>
    </>
  );
  return { isClosed: cash.differenceState === "closed", state };
}

function Details({ found }: { found: FoundOrder }) {
  const { business, order } = found;
  const { data: health } = useBusinessHealth(business.id);
  const timeline = useOperatorTimeline(order.id);
  const canDecide = useMay("change_businesses");
  const difference = useDifference(found);
  return (
    <Grid gap="md" mt="md">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack>
          <AfterFailure order={{ ...order, business }} canDecide={canDecide} decider={STAFF_DECIDER} />
          <OrderTimeline timeline={timeline} corrections={order.corrections} />
          <OrderEvidence order={order} entries={timeline.rows} source={EVIDENCE} />
          <OrderWebhooks
            timeline={timeline}
            hasDeliveryPages={false}
            endpoints={health?.endpoints ?? undefined}
          />
          {order.mode === "live" && <OrderPostings timeline={timeline} />}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack>
          <OrderMoney
            order={order}
            transfer={transferOf(timeline.rows)}
            owedPaise={owedOf(timeline)}
            isOfStaff
            difference={difference}
          />
          <OrderParties order={order} />
          <OrderParcel order={order} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}
