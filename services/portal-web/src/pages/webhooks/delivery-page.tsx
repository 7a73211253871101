import { Alert, Anchor, Badge, Group, Skeleton, Stack } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { Link, useParams } from "react-router-dom";
import { type Attempt, type DeliveryDetails, useDelivery, useRedeliver } from "../../api/webhook-log";
import { useEndpoint } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { BackLink } from "../../components/back-link";
import { CallButton } from "../../components/call-button";
import { CodeBlock, InlineCode } from "../../components/code-block";
import { ErrorState } from "../../components/error-state";
import { Fact, Facts } from "../../components/facts";
import { MaskedNotice } from "../../components/masked-notice";
import { NextAttempt } from "../../components/next-attempt";
import { PageHeader } from "../../components/page-header";
import { Section } from "../../components/section";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { sentence } from "../../format/order-labels";
import { Attempts } from "./attempts";
import { failureAdvice } from "./failure-advice";
import { deliveryLabel, REDELIVERIES } from "./labels";

export function Component() {
  const { deliveryId = "" } = useParams();
  const delivery = useDelivery(deliveryId);
  if (delivery.data) return <Details delivery={delivery.data} />;
  return (
    <>
      <BackLink to="/webhooks">Webhooks</BackLink>
      <PageHeader title="Webhook delivery" />
      {delivery.error ? (
        <ErrorState
          error={delivery.error}
          title="This delivery could not be loaded"
          onRetry={() => delivery.refetch()}
        />
      ) : (
        <Skeleton height={420} radius="lg" aria-busy="true" />
      )}
    </>
  );
}

function Details({ delivery }: { delivery: DeliveryDetails }) {
  const canResend = useMay("resend_webhooks");
  const redeliver = useRedeliver(delivery.id);
  return (
    <>
      <BackLink to={`/webhooks/${delivery.endpointId}`}>Delivery log</BackLink>
      <PageHeader
        title={delivery.event}
        description={
          <Group component="span" gap="sm">
            <span role="status" aria-label="Delivery status">
              <StatusBadge {...deliveryLabel(delivery)} pill />
            </span>
            <Badge component="span" size="md">
              {delivery.mode === "test" ? "Test" : "Live"}
            </Badge>
            {delivery.orderReference && <span>Order {delivery.orderReference}</span>}
          </Group>
        }
        actions={
          canResend && (
            <CallButton
              size="xs"
              leftSection={<IconRefresh size={14} aria-hidden />}
              loading={redeliver.isPending}
              onClick={() => redeliver.mutate()}
            >
              Redeliver
            </CallButton>
          )
        }
      />
      <div role="status">
        {redeliver.data && (
          <Alert color="blue" variant="light" mb="md">
            {REDELIVERIES[redeliver.data.redelivery]}
          </Alert>
        )}
      </div>
      <Stack>
        {redeliver.error && <ErrorState error={redeliver.error} title="The redelivery failed" />}
        {delivery.lastError && delivery.status !== "succeeded" && <Failure delivery={delivery} />}
        <MaskedNotice isMasked={delivery.personalDataMasked}>
          The body below may therefore not be the signed one, and responses of the endpoint are hidden.
        </MaskedNotice>
        <About delivery={delivery} />
        <Attempts attempts={delivery.attemptLog as unknown as Attempt[]} body={delivery.requestBody} />
        <Section
          title="Body"
          description="Formatted for reading. The requests above show the exact signed bytes."
        >
          <CodeBlock code={pretty(delivery.requestBody)} label="the body, with line breaks added" />
        </Section>
      </Stack>
    </>
  );
}

function Failure({ delivery }: { delivery: DeliveryDetails }) {
  return (
    <Alert color="red" variant="light" title={sentence(delivery.lastError ?? "Delivery failed")}>
      {failureAdvice(delivery.lastError) ?? "Fix the cause, then redeliver or wait for the next attempt."}
    </Alert>
  );
}

function About({ delivery }: { delivery: DeliveryDetails }) {
  const endpoint = useEndpoint(delivery.endpointId);
  return (
    <Section title="Details">
      <Facts>
        <Fact name="Endpoint">
          <Anchor component={Link} to={`/webhooks/${delivery.endpointId}`} size="sm">
            {endpoint.data?.url ?? delivery.endpointId}
          </Anchor>
        </Fact>
        <Fact name="Event id">
          <InlineCode>{delivery.eventId}</InlineCode>
        </Fact>
        <Fact name="Created">
          <Time at={delivery.createdAt} />
        </Fact>
        <Fact name="Completed">{delivery.completedAt && <Time at={delivery.completedAt} />}</Fact>
        <Fact name="Next attempt">
          {delivery.status === "pending" && delivery.nextAttemptAt && (
            <NextAttempt at={delivery.nextAttemptAt} endpoint={endpoint.data} />
          )}
        </Fact>
        <Fact name="Skipped">
          {delivery.steppedAsideAt && (
            <>
              <Time at={delivery.steppedAsideAt} />. The endpoint accepted other events, but not this one.
              Later events of the order no longer wait for it.
            </>
          )}
        </Fact>
      </Facts>
    </Section>
  );
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
