import { Alert, Button, Grid, Stack, Text } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { missingServices, useLiveStatus } from "../../api/status";
import type { Status } from "../../api/types";
import { useMay } from "../../app/session";
import { useFreshStanding } from "../../app/use-fresh-standing";
import { ErrorState } from "../../components/error-state";
import { joinList, serviceName } from "../../format/service-names";
import { FailingEndpoints } from "../webhooks/failing-endpoints";
import { AdviceList } from "./advice-list";
import { GoLiveList } from "./go-live-list";
import { Indicators } from "./indicators";
import { QuickStart } from "./quick-start";

/** What a business does before its first live order: the state of its integration, the checklist and the quick start. */
export function Onboarding() {
  const status = useLiveStatus();
  useFreshStanding(status.data);
  const isFailed = Boolean(status.error && !status.data);
  const missing = missingServices(status.data);
  const [seesKeys, seesWebhooks] = [useMay("read_keys"), useMay("read_webhooks")];
  return (
    <Stack gap="lg">
      {isFailed ? (
        <ErrorState
          error={status.error}
          title="The status could not be loaded"
          onRetry={() => status.refetch()}
        />
      ) : (
        <Indicators status={status.data} />
      )}
      {missing.length > 0 && <MissingData services={missing} onRetry={() => status.refetch()} />}
      {seesWebhooks && mayNeedAttention(status.data) && <FailingEndpoints />}
      <Grid gap="lg">
        {seesKeys && (
          <Grid.Col span={{ base: 12, md: 7 }} order={{ base: 2, md: 1 }}>
            <QuickStart />
          </Grid.Col>
        )}
        <Grid.Col span={{ base: 12, md: seesKeys ? 5 : 12 }} order={{ base: 1, md: 2 }}>
          <Stack gap="lg">
            {!isFailed && <GoLiveList status={status.data} />}
            {status.data && !status.data.closing && <AdviceList advice={status.data.advice} />}
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

/** Names the services whose data is missing. */
function MissingData({ services, onRetry }: { services: string[]; onRetry: () => void }) {
  return (
    <Alert
      role="status"
      color="yellow"
      variant="light"
      icon={<IconPlugConnectedX aria-hidden />}
      title="Some data is unavailable"
    >
      <Stack gap="xs" align="flex-start">
        <Text>
          No response from: {joinList(services.map(serviceName))}. Their values are shown as “Unknown” or as
          not done. This page retries automatically.
        </Text>
        <Button size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      </Stack>
    </Alert>
  );
}

/** An endpoint whose test passed may accept forged signatures: only the list of endpoints says so. */
const TO_LOOK_AT = ["failing", "failed", "disabled", "passed"];

function mayNeedAttention(status: Status | undefined): boolean {
  const { webhook, webhookConnectionTest } = status?.indicators ?? {};
  return [webhook, webhookConnectionTest].some(
    (indicator) => indicator && TO_LOOK_AT.includes(indicator.code),
  );
}
