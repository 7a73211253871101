import { Anchor, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconListDetails } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { asFailure } from "../../api/failure";
import { type Delivery, type DeliveryFilter, useDeliveries, useRedeliver } from "../../api/webhook-log";
import type { Endpoint } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { CallButton } from "../../components/call-button";
import type { Column } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import linked from "../../components/linked-rows.module.css";
import { ListFrame } from "../../components/list-section";
import { NextAttempt } from "../../components/next-attempt";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { useUrlFilter } from "../../components/use-url-filter";
import { sentence } from "../../format/order-labels";
import { deliveryLabel, REDELIVERIES } from "./labels";
import { LogFilters } from "./log-filters";

const FIELDS = ["status", "event", "mode", "responseStatus", "orderReference", "since", "until"] as const;

/** The deliveries to the endpoint, newest first. */
export function DeliveryLog({ endpoint }: { endpoint: Endpoint }) {
  const { filter, change, clear, count } = useUrlFilter<DeliveryFilter>(FIELDS);
  const log = useDeliveries(endpoint.id, filter);
  const canResend = useMay("resend_webhooks");
  const columns = [...columnsOf(endpoint), ...(canResend ? [REDELIVER] : [])];
  return (
    <>
      <LogFilters filter={filter} count={count} onChange={change} onClear={clear} error={log.error} />
      {log.rows.length === 0 && asFailure(log.error).fieldErrors.length > 0 ? (
        <EmptyState title="Invalid filters">Correct the marked fields above.</EmptyState>
      ) : (
        <ListFrame
          label="Deliveries"
          list={log}
          failed="The delivery log could not be loaded"
          columns={columns}
          rowKey={(delivery) => delivery.id}
          rowClass={() => linked.row}
          showsCount
          empty={<Nothing isFiltered={count > 0} goesOn={log.hasNextPage} />}
        />
      )}
    </>
  );
}

function Nothing({ isFiltered, goesOn }: { isFiltered: boolean; goesOn: boolean }) {
  if (goesOn) {
    return (
      <EmptyState title="Nothing found so far">
        The log is searched in parts. Select “Show more” to search older deliveries.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<IconListDetails size={28} />}
      title={isFiltered ? "No deliveries match these filters" : "No deliveries yet"}
    >
      {isFiltered
        ? "Deliveries are kept for 30 days."
        : "Send a test event, or simulate a test order. Each webhook is listed here with its attempts for 30 days."}
    </EmptyState>
  );
}

const columnsOf = (endpoint: Endpoint): Column<Delivery>[] => [
  { key: "event", header: "Event", lead: true, render: (delivery) => <Event delivery={delivery} /> },
  {
    key: "status",
    header: "Status",
    width: "14%",
    render: (delivery) => <StatusBadge {...deliveryLabel(delivery)} />,
  },
  {
    key: "answer",
    header: "Latest response",
    width: "28%",
    render: (delivery) => <Answer delivery={delivery} endpoint={endpoint} />,
  },
  {
    key: "created",
    header: "Created",
    width: "17%",
    render: (delivery) => <Time at={delivery.createdAt} relative />,
  },
];

const REDELIVER: Column<Delivery> = {
  key: "redeliver",
  header: "Actions",
  actions: true,
  width: "13%",
  align: "end",
  render: (delivery) => <RedeliverRow delivery={delivery} />,
};

function Event({ delivery }: { delivery: Delivery }) {
  return (
    <>
      <Anchor
        component={Link}
        to={`/webhooks/deliveries/${delivery.id}`}
        className={linked.open}
        size="sm"
        fw={500}
      >
        {delivery.event}
      </Anchor>
      <Text size="xs" c="dimmed" className={linked.clip}>
        {delivery.orderReference ?? "No order"}, {delivery.mode}
      </Text>
    </>
  );
}

function Answer({ delivery, endpoint }: { delivery: Delivery; endpoint: Endpoint }) {
  if (delivery.attempts === 0) return <Text c="dimmed">No attempts yet</Text>;
  const next = delivery.status === "pending" && delivery.nextAttemptAt;
  return (
    <>
      <Text className={linked.clip} title={delivery.lastError ?? undefined}>
        {delivery.lastError ? sentence(delivery.lastError) : (delivery.lastResponseStatus ?? "None")}
      </Text>
      <Text size="xs" c="dimmed" component="div">
        {delivery.attempts === 1 ? "1 attempt" : `${delivery.attempts} attempts`}
        {next && (
          <>
            , next <NextAttempt at={next} endpoint={endpoint} />
          </>
        )}
      </Text>
    </>
  );
}

function RedeliverRow({ delivery }: { delivery: Delivery }) {
  const redeliver = useRedeliver(delivery.id);
  return (
    <CallButton
      className={linked.above}
      variant="default"
      size="compact-xs"
      aria-label={`Redeliver ${delivery.event} of ${delivery.orderReference ?? "no order"}`}
      loading={redeliver.isPending}
      onClick={() =>
        redeliver.mutate(undefined, {
          onSuccess: ({ redelivery }) => notifications.show({ message: REDELIVERIES[redelivery] }),
          onError: (error) => notifications.show({ color: "red", message: asFailure(error).message }),
        })
      }
    >
      Redeliver
    </CallButton>
  );
}
