import { Alert, Button, Grid, Stack, Text } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { silentServices, useLiveStatus } from "../../api/status";
import type { Status } from "../../api/types";
import { ErrorState } from "../../components/error-state";
import { PageHeader } from "../../components/page-header";
import { listed, serviceName } from "../../format/service-words";
import { FailingEndpoints } from "../webhooks/failing-endpoints";
import { AdviceList } from "./advice-list";
import { GoLiveList } from "./go-live-list";
import { Indicators } from "./indicators";
import { QuickStart } from "./quick-start";

export function Component() {
  const status = useLiveStatus();
  const isFailed = Boolean(status.error && !status.data);
  const silent = silentServices(status.data);
  return (
    <>
      <PageHeader
        title="Overview"
        description="How your integration stands, and what is left before live orders."
      />
      <Stack gap="lg">
        {isFailed ? (
          <ErrorState
            error={status.error}
            title="The status cannot be shown"
            onRetry={() => status.refetch()}
          />
        ) : (
          <Indicators status={status.data} />
        )}
        {silent.length > 0 && <Silent services={silent} onRetry={() => status.refetch()} />}
        {needsWebhooksLook(status.data) && <FailingEndpoints />}
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 7 }} order={{ base: 2, md: 1 }}>
            <QuickStart />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }} order={{ base: 1, md: 2 }}>
            <Stack gap="lg">
              {!isFailed && <GoLiveList status={status.data} />}
              {status.data?.advice && <AdviceList advice={status.data.advice} />}
            </Stack>
          </Grid.Col>
        </Grid>
      </Stack>
    </>
  );
}

/** What is not known right now, and that it comes by itself. */
function Silent({ services, onRetry }: { services: string[]; onRetry: () => void }) {
  return (
    <Alert
      role="status"
      color="yellow"
      variant="light"
      icon={<IconPlugConnectedX aria-hidden />}
      title="Part of this is not known right now"
    >
      <Stack gap="xs" align="flex-start">
        <Text>
          No answer came for: {listed(services.map(serviceName))}. What that would tell shows as “Unknown”, or
          as not done yet. This page asks again by itself.
        </Text>
        <Button size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      </Stack>
    </Alert>
  );
}

const TROUBLE = ["failing", "failed", "disabled"];

function needsWebhooksLook(status: Status | undefined): boolean {
  const { webhook, webhookConnectionTest } = status?.indicators ?? {};
  return [webhook, webhookConnectionTest].some((indicator) => indicator && TROUBLE.includes(indicator.code));
}
