import { Alert, Group, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconHandStop, IconKey, IconPlayerPause, IconShieldX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import {
  type Endpoint,
  useActivateSecret,
  useDiscardParked,
  useReplayParked,
  useUpdateEndpoint,
} from "../../api/webhooks";
import { useMay } from "../../app/session";
import { CallButton } from "../../components/call-button";
import { ConfirmButton } from "../../components/confirm-button";
import { ErrorState } from "../../components/error-state";
import { NextAttempt } from "../../components/next-attempt";
import { Time } from "../../components/time";
import { sentence } from "../../format/order-labels";
import { acceptsForgeries, plural } from "./labels";

/** The server stops counting here. */
const HELD_COUNTED_MAX = 100_000;

/** The endpoint's problems, and decisions that it waits for. */
export function EndpointNotices({ endpoint }: { endpoint: Endpoint }) {
  const notices = [
    endpoint.status === "disabled" && <DisabledNotice key="disabled" endpoint={endpoint} />,
    endpoint.status !== "disabled" && endpoint.trouble && <TroubleNotice key="trouble" endpoint={endpoint} />,
    acceptsForgeries(endpoint) && <ForgeryNotice key="forgery" />,
    endpoint.status === "paused" && <PausedNotice key="paused" />,
    endpoint.parkedDeliveries > 0 && <HeldNotice key="held" endpoint={endpoint} />,
    endpoint.nextSecret && <StagedNotice key="staged" endpoint={endpoint} />,
  ].filter(Boolean);
  if (notices.length === 0) return null;
  return (
    <Stack gap="sm" mb="lg">
      {notices}
    </Stack>
  );
}

function ForgeryNotice() {
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconShieldX aria-hidden />}
      title="The endpoint accepts forged signatures, so anyone can post to it"
    >
      It received the latest test event, and then accepted one with a forged signature. Verify the signature
      before you parse the body, as the tab Signatures shows. Then send a test event.
    </Alert>
  );
}

function PausedNotice() {
  return (
    <Alert color="yellow" variant="light" icon={<IconPlayerPause aria-hidden />} title="Delivery is paused">
      Webhooks are queued and use no retries. When you resume, they are sent in order.
    </Alert>
  );
}

function DisabledNotice({ endpoint }: { endpoint: Endpoint }) {
  const update = useUpdateEndpoint(endpoint.id);
  const canEdit = useMay("manage_integration");
  const { trouble } = endpoint;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} title="Disabled">
      <Stack gap="xs" align="flex-start">
        <Text>
          {trouble?.disabledReason ? `${ended(sentence(trouble.disabledReason))} ` : ""}
          {trouble?.disabledAt && (
            <>
              Nothing has been sent since <Time at={trouble.disabledAt} />.{" "}
            </>
          )}
          New webhooks are held. Fix the endpoint, then enable it.
        </Text>
        {canEdit && (
          <CallButton
            size="xs"
            loading={update.isPending}
            onClick={() => update.mutate({ status: "active" })}
          >
            Enable endpoint
          </CallButton>
        )}
        {update.error && <ErrorState error={update.error} title="The endpoint was not enabled" />}
      </Stack>
    </Alert>
  );
}

/** Adds a missing full stop. */
function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function TroubleNotice({ endpoint }: { endpoint: Endpoint }) {
  const { trouble } = endpoint;
  if (!trouble) return null;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} title="All attempts fail">
      <Stack gap={6}>
        <Text>
          {trouble.failingSince && (
            <>
              Failing since <Time at={trouble.failingSince} />.{" "}
            </>
          )}
          {trouble.disablesAt && (
            <>
              If it receives nothing until <Time at={trouble.disablesAt} />, it is disabled.{" "}
            </>
          )}
          The delivery log shows the cause. Fix it, then send a test event.
        </Text>
        {trouble.restingUntil && (
          <Text>
            Attempts are paused. The next one: <NextAttempt at={trouble.restingUntil} endpoint={endpoint} />.
            A received test event resumes them immediately.
          </Text>
        )}
        {trouble.notices.length > 0 && (
          <List size="xs" c="dimmed">
            {trouble.notices.map((notice) => (
              <List.Item key={notice.percent}>
                <Time at={notice.at} />: {notice.percent}% of the time until it is disabled has passed.
              </List.Item>
            ))}
          </List>
        )}
      </Stack>
    </Alert>
  );
}

function HeldNotice({ endpoint }: { endpoint: Endpoint }) {
  const canEdit = useMay("manage_integration");
  const replay = useReplayParked(endpoint.id);
  const discard = useDiscardParked(endpoint.id);
  const count = endpoint.parkedDeliveries;
  const many = `${plural(count, "webhook")}${count >= HELD_COUNTED_MAX ? " or more" : ""}`;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconHandStop aria-hidden />}
      title={`${many} ${count === 1 ? "is" : "are"} held`}
    >
      <Stack gap="xs" align="flex-start">
        <Text>
          They were created while the endpoint was disabled. Later events of the same orders wait until you
          replay or discard them. {endpoint.status === "disabled" && "Enable the endpoint to replay them."}
        </Text>
        {canEdit && (
          <Group gap="xs">
            <CallButton
              size="xs"
              variant="default"
              disabled={endpoint.status === "disabled"}
              loading={replay.isPending}
              onClick={() => replay.mutate(undefined)}
            >
              Replay
            </CallButton>
            <ConfirmButton
              title={`Discard ${many}?`}
              description="They are not sent, and later events of their orders no longer wait. You can still redeliver each one from the log."
              confirm="Discard"
              onConfirm={() => discard.mutateAsync(undefined)}
            >
              Discard
            </ConfirmButton>
          </Group>
        )}
        {replay.error && <ErrorState error={replay.error} title="The replay failed" />}
      </Stack>
    </Alert>
  );
}

function StagedNotice({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const canEdit = useMay("manage_integration");
  const activate = useActivateSecret(endpoint.id);
  return (
    <Alert color="blue" variant="light" icon={<IconKey aria-hidden />} title="A new signing secret is staged">
      <Stack gap="xs" align="flex-start">
        <Text>
          Webhooks are signed with both secrets. Activate the new one when all your receivers have it. It is
          activated automatically at <Time at={endpoint.nextSecret?.activatesAt} />.
        </Text>
        {canEdit && (
          <ConfirmButton
            title="Activate the new secret?"
            description="Webhooks are then signed with the new secret only. Receivers that have only the old one reject them."
            confirm="Activate"
            onConfirm={() => activate.mutateAsync(undefined)}
          >
            Activate new secret
          </ConfirmButton>
        )}
      </Stack>
    </Alert>
  );
}
