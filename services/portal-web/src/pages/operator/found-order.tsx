import { Anchor, Badge, Button, Grid, Group, Paper, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link } from "react-router-dom";
import { useBusinessHealth } from "../../api/operator-businesses";
import { type FoundOrder, useOperatorTimeline } from "../../api/operator-orders";
import type { Order } from "../../api/orders";
import { Fact, Facts } from "../../components/facts";
import { Money } from "../../components/money";
import { Section } from "../../components/section";
import { Time } from "../../components/time";
import { CodBadge, DeliveryBadge } from "../orders/order-badges";
import { OrderParcel } from "../orders/order-parcel";
import { OrderParties } from "../orders/order-parties";
import { OrderTimeline } from "../orders/order-timeline";
import { OrderPostings, OrderWebhooks } from "../orders/order-webhooks";

/** A summary of an order. The details are open if it is the only result. */
export function FoundOrderCard({ found, isOnly }: { found: FoundOrder; isOnly: boolean }) {
  const [isOpen, { toggle }] = useDisclosure(isOnly);
  const { business, order } = found;
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
          </div>
          <Button variant="default" size="xs" onClick={toggle} aria-expanded={isOpen}>
            {isOpen ? "Hide details" : "Show details"}
          </Button>
        </Group>
      </Paper>
      {isOpen && <Details order={order} businessId={business.id} />}
    </article>
  );
}

function Details({ order, businessId }: { order: Order; businessId: string }) {
  const { data: health } = useBusinessHealth(businessId);
  const timeline = useOperatorTimeline(order.id);
  return (
    <Grid gap="md" mt="md">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack>
          <OrderTimeline timeline={timeline} />
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
          <OrderCash order={order} />
          <OrderParties order={order} />
          <OrderParcel order={order} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

function OrderCash({ order }: { order: Order }) {
  const { payment } = order;
  return (
    <Section title="Money">
      <Facts align="end">
        <Fact name="Fee charged">
          {order.mode === "test" ? "None (test order)" : <Money paise={order.feeChargedPaise} />}
        </Fact>
        <Amount name="Refunded to wallet" paise={order.refundedPaise || null} />
        <Fact name="Payment">{payment.paymentType === "cod" ? "Cash on delivery" : "Prepaid"}</Fact>
        <Amount name="Cash to collect" paise={cashToCollect(order)} />
        <Fact name="Cash status">{payment.paymentType === "cod" ? <CodBadge order={order} /> : null}</Fact>
        <Amount name="Collected" paise={order.codCollectedPaise} />
        <Amount name="Handed over" paise={order.codHandedOverPaise} />
        <Amount name="Settled" paise={order.codSettledPaise} />
      </Facts>
    </Section>
  );
}

/** Orders that end undelivered have no cash to collect. */
function cashToCollect({ codStatus, payment }: Order): number | null {
  return codStatus === "not_applicable" ? null : payment.codAmountPaise || null;
}

function Amount({ name, paise }: { name: string; paise: number | null | undefined }) {
  return <Fact name={name}>{typeof paise === "number" ? <Money paise={paise} /> : null}</Fact>;
}
