import { Group, Skeleton } from "@mantine/core";
import { lazy } from "react";
import { useParams } from "react-router-dom";
import { type Endpoint, useEndpoint } from "../../api/webhooks";
import { BackLink } from "../../components/back-link";
import { ErrorState } from "../../components/error-state";
import { PageHeader } from "../../components/page-header";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { UrlTabs } from "../../components/url-tabs";
import { EndpointActions } from "./endpoint-actions";
import { EndpointNotices } from "./endpoint-notices";
import { connectionTestLabel, ENDPOINT_STATUSES } from "./labels";

export function Component() {
  const { endpointId = "" } = useParams();
  const endpoint = useEndpoint(endpointId);
  return (
    <>
      <BackLink to="/webhooks">Webhooks</BackLink>
      {endpoint.data ? (
        <Details key={endpointId} endpoint={endpoint.data} />
      ) : endpoint.error ? (
        <>
          <PageHeader title="Webhook endpoint" />
          <ErrorState
            error={endpoint.error}
            title="This endpoint could not be loaded"
            onRetry={() => endpoint.refetch()}
          />
        </>
      ) : (
        <div aria-busy="true">
          <PageHeader title="Webhook endpoint" description={<Skeleton height={22} width={320} />} />
          <Skeleton height={360} radius="lg" />
        </div>
      )}
    </>
  );
}

// Each tab is loaded on demand, to keep the first visit small.
const TABS = [
  {
    value: "deliveries",
    label: "Delivery log",
    Panel: lazy(async () => ({ default: (await import("./delivery-log")).DeliveryLog })),
  },
  {
    value: "recover",
    label: "Recover",
    Panel: lazy(async () => ({ default: (await import("./recoveries")).Recoveries })),
  },
  {
    value: "signatures",
    label: "Signatures",
    Panel: lazy(async () => ({ default: (await import("./signatures")).Signatures })),
  },
  {
    value: "settings",
    label: "Settings",
    Panel: lazy(async () => ({ default: (await import("./endpoint-settings")).EndpointSettings })),
  },
];

function Details({ endpoint }: { endpoint: Endpoint }) {
  return (
    <>
      <PageHeader
        title={endpoint.url}
        description={<Summary endpoint={endpoint} />}
        actions={<EndpointActions endpoint={endpoint} />}
      />
      <EndpointNotices endpoint={endpoint} />
      <UrlTabs tabs={TABS.map(({ Panel, ...tab }) => ({ ...tab, panel: <Panel endpoint={endpoint} /> }))} />
    </>
  );
}

function Summary({ endpoint }: { endpoint: Endpoint }) {
  const { lastDelivery } = endpoint;
  return (
    <Group component="span" gap="4px 12px">
      <span role="status" aria-label="Endpoint status">
        <StatusBadge {...ENDPOINT_STATUSES[endpoint.status]} pill />
      </span>
      <span>
        Last delivery: {lastDelivery.label}
        {lastDelivery.at && (
          <>
            , <Time at={lastDelivery.at} relative />
          </>
        )}
      </span>
      <span>Connection test: {connectionTestLabel(endpoint).label}</span>
    </Group>
  );
}
