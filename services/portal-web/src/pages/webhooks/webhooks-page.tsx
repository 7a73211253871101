import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { IconPlus, IconWebhook } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { useConfig } from "../../api/config";
import { type Endpoint, useEndpoints } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { InlineCode } from "../../components/code-block";
import { CopyButton } from "../../components/copy-button";
import type { Column } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import linked from "../../components/linked-rows.module.css";
import { ListFrame } from "../../components/list-section";
import { PageHeader } from "../../components/page-header";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { FailingEndpoints } from "./failing-endpoints";
import { connectionTestLabel, ENDPOINT_STATUSES, plural } from "./labels";

export function Component() {
  const canEdit = useMay("manage_integration");
  const add = canEdit && (
    <Button component={Link} to="/webhooks/new" leftSection={<IconPlus size={16} aria-hidden />}>
      Add endpoint
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="We report each step of a delivery to your backend: a signed POST to your endpoint."
        actions={add}
      />
      <Stack>
        <FailingEndpoints />
        <ListFrame
          label="Webhook endpoints"
          list={useEndpoints()}
          failed="The endpoints could not be loaded"
          columns={COLUMNS}
          rowKey={(endpoint) => endpoint.id}
          rowClass={() => linked.row}
          empty={
            <EmptyState icon={<IconWebhook size={28} />} title="No endpoint yet">
              Add a URL of your backend. It gets a signed POST when a driver is assigned, a parcel is
              delivered or cash is collected, so that you need not poll.
              {!canEdit && " An owner or a developer of your business can add one."}
            </EmptyState>
          }
        />
        <SourceAddresses />
      </Stack>
    </>
  );
}

/** For firewalls, if the operator has fixed addresses. */
function SourceAddresses() {
  const { webhookAddresses } = useConfig();
  if (webhookAddresses.length === 0) return null;
  const addresses = webhookAddresses.join(", ");
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" c="dimmed">
        Requests come from {webhookAddresses.length === 1 ? "this address" : "these addresses"}:{" "}
        <InlineCode>{addresses}</InlineCode>
      </Text>
      <CopyButton value={addresses} label="Copy the addresses" />
    </Group>
  );
}

const COLUMNS: Column<Endpoint>[] = [
  { key: "url", header: "URL", lead: true, render: (endpoint) => <Url endpoint={endpoint} /> },
  {
    key: "status",
    header: "Status",
    width: "14%",
    render: (endpoint) => <StatusBadge {...ENDPOINT_STATUSES[endpoint.status]} />,
  },
  {
    key: "last",
    header: "Last delivery",
    width: "20%",
    render: ({ lastDelivery }) => (
      <>
        <Text>{lastDelivery.label}</Text>
        {lastDelivery.at && (
          <Text size="xs" c="dimmed">
            <Time at={lastDelivery.at} relative />
          </Text>
        )}
      </>
    ),
  },
  {
    key: "test",
    header: "Connection test",
    width: "24%",
    render: (endpoint) => <StatusBadge {...connectionTestLabel(endpoint)} />,
  },
];

function Url({ endpoint }: { endpoint: Endpoint }) {
  return (
    <>
      <Anchor component={Link} to={`/webhooks/${endpoint.id}`} className={linked.open} size="sm" fw={500}>
        {endpoint.url}
      </Anchor>
      <Text size="xs" c="dimmed">
        {plural(endpoint.events.length, "event")}, {endpoint.modes.join(" and ")}
      </Text>
    </>
  );
}
