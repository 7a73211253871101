import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconKey, IconParking, IconPlayerPause } from "@tabler/icons-react";
import type { ReactNode } from "react";
import {
  type Endpoint,
  useActivateSecret,
  useDiscardParked,
  useReplayParked,
  useUpdateEndpoint,
} from "../../api/webhooks";
import { useMay } from "../../app/session";
import { ConfirmButton } from "../../components/confirm-button";
import { ErrorState } from "../../components/error-state";
import { Time } from "../../components/time";
import { sentence } from "../../format/order-words";
import { plural } from "./words";

/** The server counts no further. */
const PARKED_COUNTED_MAX = 100_000;

/** What the owner should know of the endpoint before anything else. */
export function EndpointNotices({ endpoint }: { endpoint: Endpoint }) {
  const notices = [
    endpoint.status === "disabled" && <DisabledNotice key="disabled" endpoint={endpoint} />,
    endpoint.status !== "disabled" && endpoint.trouble && <TroubleNotice key="trouble" endpoint={endpoint} />,
    endpoint.status === "paused" && <PausedNotice key="paused" />,
    endpoint.parkedDeliveries > 0 && <ParkedNotice key="parked" endpoint={endpoint} />,
    endpoint.nextSecret && <StagedNotice key="staged" endpoint={endpoint} />,
  ].filter(Boolean);
  if (notices.length === 0) return null;
  return (
    <Stack gap="sm" mb="lg">
      {notices}
    </Stack>
  );
}

function PausedNotice() {
  return (
    <Alert color="yellow" variant="light" icon={<IconPlayerPause aria-hidden />} title="Paused by you">
      Webhooks wait, and no retry is used up. When you resume, each order goes on from where it was.
    </Alert>
  );
}

function DisabledNotice({ endpoint }: { endpoint: Endpoint }) {
  const update = useUpdateEndpoint(endpoint.id);
  const may = useMay("developer");
  const { trouble } = endpoint;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} title="Disabled">
      <Stack gap="xs" align="flex-start">
        <Text>
          {trouble?.disabledReason ? `${ended(sentence(trouble.disabledReason))} ` : ""}
          {trouble?.disabledAt && (
            <>
              Since <Time at={trouble.disabledAt} /> nothing is sent.{" "}
            </>
          )}
          What comes is parked. Mend the endpoint, then enable it.
        </Text>
        {may && (
          <Button size="xs" loading={update.isPending} onClick={() => update.mutate({ status: "active" })}>
            Enable endpoint
          </Button>
        )}
        {update.error && <ErrorState error={update.error} title="It was not enabled" />}
      </Stack>
    </Alert>
  );
}

/** A full stop where there is none. */
function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function TroubleNotice({ endpoint }: { endpoint: Endpoint }) {
  const { trouble } = endpoint;
  if (!trouble) return null;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} title="Every attempt fails">
      <Stack gap={6}>
        <Text>
          {trouble.failingSince && (
            <>
              Since <Time at={trouble.failingSince} />.{" "}
            </>
          )}
          {trouble.disablesAt && (
            <>
              If nothing is received until <Time at={trouble.disablesAt} />, the endpoint is disabled.{" "}
            </>
          )}
          The delivery log says what is wrong. Send a test event once it is mended.
        </Text>
        {trouble.restingUntil && (
          <Text>
            It rests until <Time at={trouble.restingUntil} clock />: nothing is attempted until then. A test
            event that is received ends the rest at once.
          </Text>
        )}
        {trouble.notices.length > 0 && (
          <List size="xs" c="dimmed">
            {trouble.notices.map((notice) => (
              <List.Item key={notice.percent}>
                <Time at={notice.at} />: {notice.percent}% of the time that it may fail has passed.
              </List.Item>
            ))}
          </List>
        )}
      </Stack>
    </Alert>
  );
}

function ParkedNotice({ endpoint }: { endpoint: Endpoint }) {
  const may = useMay("developer");
  const replay = useReplayParked(endpoint.id);
  const discard = useDiscardParked(endpoint.id);
  const count = endpoint.parkedDeliveries;
  const many = `${plural(count, "webhook")}${count >= PARKED_COUNTED_MAX ? " or more" : ""}`;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconParking aria-hidden />}
      title={`${many} ${count === 1 ? "is" : "are"} parked`}
    >
      <Stack gap="xs" align="flex-start">
        <Text>
          They came while the endpoint was disabled. Until you decide, later events of the same orders wait
          behind them. {endpoint.status === "disabled" && "Enable the endpoint first to have them sent."}
        </Text>
        {may && (
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              disabled={endpoint.status === "disabled"}
              loading={replay.isPending}
              onClick={() => replay.mutate(undefined)}
            >
              Replay them
            </Button>
            <ConfirmButton
              title={`Discard ${many}?`}
              description="They will not be sent, and later events of their orders go on without them. One by one they can still be redelivered from the log."
              confirm="Discard"
              onConfirm={() => discard.mutateAsync(undefined)}
            >
              Discard them
            </ConfirmButton>
          </Group>
        )}
        {replay.error && <ErrorState error={replay.error} title="They were not replayed" />}
      </Stack>
    </Alert>
  );
}

function StagedNotice({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const may = useMay("developer");
  const activate = useActivateSecret(endpoint.id);
  return (
    <Alert color="blue" variant="light" icon={<IconKey aria-hidden />} title="A new signing secret is staged">
      <Stack gap="xs" align="flex-start">
        <Text>
          Webhooks are signed with both secrets. Activate the new one when all your receivers have it; else it
          becomes the only one by itself at <Time at={endpoint.nextSecret?.activatesAt} />.
        </Text>
        {may && (
          <ConfirmButton
            title="Activate the new secret?"
            description="From now on webhooks are signed with it alone. Receivers that only know the old one will refuse them."
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
