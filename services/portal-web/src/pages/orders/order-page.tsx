import { Badge, Button, Grid, Group, Skeleton, Stack } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import { useParams } from "react-router-dom";
import { useCashOfOrder } from "../../api/cash";
import { type Order, useFollowOrder, useOrder, useTimeline } from "../../api/orders";
import { useEndpoints } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { BackLink } from "../../components/back-link";
import { CashDifference } from "../../components/cash-status";
import { ErrorState } from "../../components/error-state";
import { PageHeader } from "../../components/page-header";
import { Time } from "../../components/time";
import { UrlTabs } from "../../components/url-tabs";
import { AfterFailure } from "./after-failure";
import { CancelOrder } from "./cancel-order";
import { CorrectDelivery } from "./correct-delivery";
import { DeliveryCode } from "./delivery-code";
import { canCancel, canCorrect, wasPickedUp } from "./next-events";
import { DeliveryBadge } from "./order-badges";
import { OrderEvidence } from "./order-evidence";
import { OrderMoney } from "./order-money";
import { OrderOutcome } from "./order-outcome";
import { OrderParcel } from "./order-parcel";
import { OrderParties } from "./order-parties";
import { OrderRequest } from "./order-request";
import { OrderTimeline, owedOf, transferOf } from "./order-timeline";
import { OrderPostings, OrderWebhooks } from "./order-webhooks";
import { SimulateOrder } from "./simulate-order";
import { timelinePollMs } from "./timeline-polling";
import type { Timeline } from "./timeline-section";

export function Component() {
  const { orderId = "" } = useParams();
  const order = useOrder(orderId);
  useFollowOrder(orderId);
  return (
    <>
      <BackLink to="/orders">Orders</BackLink>
      {order.data ? (
        <Details order={order.data} />
      ) : order.error ? (
        <>
          <PageHeader title="Order" />
          <ErrorState
            error={order.error}
            title="This order could not be loaded"
            onRetry={() => order.refetch()}
          />
        </>
      ) : (
        <Loading />
      )}
    </>
  );
}

function Details({ order }: { order: Order }) {
  const timeline = useTimeline(order.id, (entries) => timelinePollMs(entries));
  const canCancelOrders = useMay("cancel_orders");
  const canCorrectDeliveries = useMay("correct_deliveries");
  return (
    <>
      <PageHeader
        title={order.orderReference}
        description={
          <Group component="span" gap="sm">
            <span role="status" aria-label="Status">
              <DeliveryBadge status={order.status} pill />
            </span>
            <Badge component="span" size="md">
              {order.mode === "test" ? "Test" : "Live"}
            </Badge>
            <span>
              Ordered <Time at={order.createdAt} />
            </span>
          </Group>
        }
        actions={
          <>
            <Button
              component="a"
              href={order.trackingUrl}
              target="_blank"
              rel="noreferrer"
              variant="default"
              size="xs"
              rightSection={<IconExternalLink size={14} aria-hidden />}
            >
              Tracking page
            </Button>
            {canCorrectDeliveries && canCorrect(order) && (
              <>
                <DeliveryCode orderId={order.id} />
                <CorrectDelivery order={order} />
              </>
            )}
            {canCancelOrders && canCancel(order) && <CancelOrder order={order} />}
          </>
        }
      />
      <OrderOutcome order={order} entries={timeline.rows} />
      <AfterFailure order={order} canDecide={canCancelOrders} />
      <UrlTabs
        tabs={[
          { value: "delivery", label: "Delivery", panel: <Delivery order={order} timeline={timeline} /> },
          {
            value: "developers",
            label: "Developers",
            panel: <Developers order={order} timeline={timeline} />,
          },
        ]}
      />
    </>
  );
}

interface PartProps {
  order: Order;
  timeline: Timeline;
}

function Delivery({ order, timeline }: PartProps) {
  const canSimulate = useMay("manage_integration");
  const seesMoney = useMay("read_money");
  const transferPath = seesMoney ? (id: string) => `/cash-on-delivery/remittances/${id}` : undefined;
  const differs = order.mode === "live" && typeof order.codDiscrepancyPaise === "number";
  const { data: cash } = useCashOfOrder(order.id, seesMoney && differs);
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack>
          {canSimulate && order.mode === "test" && (
            <SimulateOrder order={order} pickedUp={wasPickedUp(timeline.rows)} />
          )}
          <OrderTimeline timeline={timeline} corrections={order.corrections} transferPath={transferPath} />
          <OrderEvidence order={order} entries={timeline.rows} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack>
          <OrderMoney
            order={order}
            transfer={transferOf(timeline.rows)}
            owedPaise={owedOf(timeline)}
            transferPath={transferPath}
            difference={
              cash
                ? { isClosed: cash.differenceState === "closed", state: <CashDifference cash={cash} /> }
                : undefined
            }
          />
          <OrderParties order={order} />
          <OrderParcel order={order} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

/** What happened between the business's programs and the service. */
function Developers({ order, timeline }: PartProps) {
  const seesWebhooks = useMay("read_webhooks");
  const endpoints = useEndpoints(seesWebhooks);
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack>
          <OrderWebhooks
            timeline={timeline}
            hasDeliveryPages={seesWebhooks}
            endpoints={endpoints.data && endpoints.rows}
          />
          {order.mode === "live" && <OrderPostings timeline={timeline} />}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <OrderRequest order={order} />
      </Grid.Col>
    </Grid>
  );
}

function Loading() {
  return (
    <div aria-busy="true">
      <PageHeader title="Order" description={<Skeleton height={22} width={260} />} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Skeleton height={420} radius="lg" />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Skeleton height={420} radius="lg" />
        </Grid.Col>
      </Grid>
    </div>
  );
}
