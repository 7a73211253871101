import { Alert, Group, Stack, Text } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconSend } from "@tabler/icons-react";
import { useState } from "react";
import { type Endpoint, type TestResult, useTestEndpoint, useUpdateEndpoint } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { CallButton } from "../../components/call-button";
import { InlineCode } from "../../components/code-block";
import { Dialog } from "../../components/dialog";
import { ErrorState } from "../../components/error-state";
import { sentence } from "../../format/order-labels";
import { formatNumber } from "../../format/region";
import { failureAdvice } from "./failure-advice";
import { acceptsForgeries } from "./labels";

/** Buttons to send a test event, pause and resume. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const canEdit = useMay("manage_integration");
  if (!canEdit) return null;
  return (
    <>
      <SendTest endpoint={endpoint} />
      {endpoint.status !== "disabled" && <Pause endpoint={endpoint} />}
    </>
  );
}

function SendTest({ endpoint }: { endpoint: Endpoint }) {
  const test = useTestEndpoint(endpoint.id);
  const [isShown, setShown] = useState(false);
  return (
    <>
      <CallButton
        size="xs"
        loading={test.isPending}
        leftSection={<IconSend size={14} aria-hidden />}
        onClick={() => test.mutate(undefined, { onSettled: () => setShown(true) })}
      >
        Send test event
      </CallButton>
      <Dialog
        opened={isShown}
        onClose={() => setShown(false)}
        title={<Text fw={600}>Test event</Text>}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {test.error ? <ErrorState error={test.error} title="The test event was not sent" /> : null}
        {test.data && <TestOutcome result={test.data} />}
      </Dialog>
    </>
  );
}

function TestOutcome({ result }: { result: TestResult }) {
  const answered = result.responseStatus ? `Your server returned ${result.responseStatus}` : "No response";
  const advice = failureAdvice(result.error);
  const duration = `${formatNumber(result.durationMs)} ms`;
  return (
    <Stack gap="sm" role="status">
      {result.succeeded ? (
        <Received result={result}>{`${answered} after ${duration}.`}</Received>
      ) : (
        <Alert color="red" variant="light" title="Not received">
          <Stack gap="xs">
            <Text>{result.error ? `${sentence(result.error)}.` : `${answered}.`}</Text>
            {advice && <Text>{advice}</Text>}
            <Text size="xs">Duration: {duration}. Fix the cause, then send the test event again.</Text>
          </Stack>
        </Alert>
      )}
      <Text c="dimmed" size="xs">
        Event <InlineCode>{result.eventId}</InlineCode>: a <InlineCode>webhook.test</InlineCode> with a sample
        order in test mode. The delivery log has its request and response.
      </Text>
    </Stack>
  );
}

/** A test event with a forged signature followed the received one: only a receiver that rejects it works. */
function Received({ result, children }: { result: TestResult; children: string }) {
  if (acceptsForgeries(result)) {
    return (
      <Alert
        color="red"
        variant="light"
        title="Received. Forged signature: accepted, so anyone can post to this endpoint"
      >
        {children} {result.forgedProblem}
      </Alert>
    );
  }
  if (result.forgedRefused) {
    return (
      <Alert color="green" variant="light" title="Received">
        {children} Forged signature: rejected. It works.
      </Alert>
    );
  }
  return (
    <Alert color="yellow" variant="light" title="Received. Forged signature: unknown">
      {children} {result.forgedProblem}
    </Alert>
  );
}

function Pause({ endpoint }: { endpoint: Endpoint }) {
  const update = useUpdateEndpoint(endpoint.id);
  const isPaused = endpoint.status === "paused";
  return (
    <Group gap="xs">
      <CallButton
        size="xs"
        variant="default"
        loading={update.isPending}
        leftSection={
          isPaused ? <IconPlayerPlay size={14} aria-hidden /> : <IconPlayerPause size={14} aria-hidden />
        }
        onClick={() => update.mutate({ status: isPaused ? "active" : "paused" })}
      >
        {isPaused ? "Resume" : "Pause"}
      </CallButton>
      {update.error && (
        <Text c="red" size="xs" role="alert">
          {update.error.message}
        </Text>
      )}
    </Group>
  );
}
