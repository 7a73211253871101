import { Group, Paper, Progress, Skeleton, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { asFailure } from "../../api/failure";
import { type Recovery, useCancelRecovery, useRecover, useRecoveries } from "../../api/webhook-log";
import type { Endpoint } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";
import { LocalTimeInput } from "../../components/local-time-input";
import { Section } from "../../components/section";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import type { StatusLabel } from "../../format/status-label";
import { plural } from "./labels";

const HOUR_MS = 3_600_000;

/** Sends the webhooks again that the endpoint missed in a period. */
export function Recoveries({ endpoint }: { endpoint: Endpoint }) {
  const recoveries = useRecoveries(endpoint.id);
  const canResend = useMay("resend_webhooks");
  const isRunning = recoveries.data?.data.some((one) => one.status === "running") ?? false;
  return (
    <Stack maw="46rem">
      {canResend && <Begin endpoint={endpoint} isRunning={isRunning} />}
      <Section title="Recoveries" description="The latest ten recoveries." flush>
        {recoveries.isPending && <Skeleton height={64} m="md" />}
        {recoveries.error && (
          <div style={{ padding: 16 }}>
            <ErrorState error={recoveries.error} onRetry={() => recoveries.refetch()} />
          </div>
        )}
        {recoveries.data?.data.length === 0 && (
          <Text c="dimmed" px="md" pb="md">
            None yet. Start one after an outage of your endpoint.
          </Text>
        )}
        {recoveries.data?.data.map((recovery) => (
          <RecoveryRow key={recovery.id} recovery={recovery} canCancel={canResend} />
        ))}
      </Section>
    </Stack>
  );
}

function Begin({ endpoint, isRunning }: { endpoint: Endpoint; isRunning: boolean }) {
  const recover = useRecover(endpoint.id);
  const [since, setSince] = useState<string | undefined>(() => new Date(Date.now() - HOUR_MS).toISOString());
  const [until, setUntil] = useState<string | undefined>(undefined);
  const failure = recover.error ? asFailure(recover.error) : null;
  const errorOf = (field: string) =>
    failure?.fieldErrors.find((fieldError) => fieldError.field === field)?.message;

  return (
    <Section
      title="Recover missed webhooks"
      description="Sends the failed webhooks of a period again, and those that were discarded because you were not subscribed, if you are now. The events of each order keep their sequence. Received webhooks are not sent again."
    >
      <Stack gap="sm">
        {failure && failure.fieldErrors.length === 0 && (
          <ErrorState error={recover.error} title="The recovery was not started" />
        )}
        <Group align="flex-start">
          <LocalTimeInput label="Since" required value={since} onChange={setSince} error={errorOf("since")} />
          <LocalTimeInput
            label="Until (optional)"
            value={until}
            onChange={setUntil}
            error={errorOf("until")}
          />
        </Group>
        <Group>
          <CallButton
            loading={recover.isPending}
            disabled={!since || isRunning}
            onClick={() => since && recover.mutate(until ? { since, until } : { since })}
          >
            Recover
          </CallButton>
          {isRunning && (
            <Text c="dimmed" size="xs">
              Only one recovery can run at a time. Wait until it ends, or cancel it.
            </Text>
          )}
        </Group>
      </Stack>
    </Section>
  );
}

const STATES: Record<Recovery["status"], StatusLabel> = {
  running: { label: "Running", tone: "info" },
  completed: { label: "Completed", tone: "good" },
  cancelled: { label: "Cancelled", tone: "warn" },
};

function RecoveryRow({ recovery, canCancel }: { recovery: Recovery; canCancel: boolean }) {
  const cancel = useCancelRecovery(recovery.endpointId);
  const { total, done } = recovery;
  const isRunning = recovery.status === "running";
  return (
    <Paper radius={0} withBorder={false} p="md" style={{ borderTop: "1px solid var(--line)" }}>
      <Group justify="space-between" gap="xs">
        <Group gap="sm">
          <span role="status" aria-label="Recovery">
            <StatusBadge {...STATES[recovery.status]} />
          </span>
          <Text c="dimmed">
            <Time at={recovery.since} /> to <Time at={recovery.until} />
          </Text>
        </Group>
        {isRunning && canCancel && (
          <CallButton
            variant="default"
            size="compact-xs"
            loading={cancel.isPending}
            onClick={() => cancel.mutate(recovery.id)}
          >
            Cancel
          </CallButton>
        )}
      </Group>
      {isRunning && (
        <Progress
          mt="xs"
          size="sm"
          value={total === 0 ? 100 : (done / total) * 100}
          aria-label={`${done} of ${total} queued`}
        />
      )}
      <Text size="xs" c="dimmed" mt={6}>
        {total === 0
          ? "No missed webhooks in this period."
          : `${done} of ${plural(total, "webhook")} queued.`}
      </Text>
      {cancel.error && (
        <div style={{ marginTop: 10 }}>
          <ErrorState error={cancel.error} title="The recovery was not cancelled" />
        </div>
      )}
    </Paper>
  );
}
