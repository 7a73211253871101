import { Grid, Stack } from "@mantine/core";
import { useLiveStatus } from "../../api/status";
import { ErrorState } from "../../components/error-state";
import { PageHeader } from "../../components/page-header";
import { AdviceList } from "./advice-list";
import { GoLiveList } from "./go-live-list";
import { Indicators } from "./indicators";
import { QuickStart } from "./quick-start";

export function Component() {
  const status = useLiveStatus();
  return (
    <>
      <PageHeader
        title="Overview"
        description="How your integration stands, and what is left before live orders."
      />
      <Stack gap="lg">
        {status.error && !status.data ? (
          <ErrorState
            error={status.error}
            title="The status cannot be shown"
            onRetry={() => status.refetch()}
          />
        ) : (
          <Indicators status={status.data} />
        )}
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 7 }} order={{ base: 2, md: 1 }}>
            <QuickStart />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }} order={{ base: 1, md: 2 }}>
            <Stack gap="lg">
              <GoLiveList goLive={status.data?.goLive} />
              {status.data?.advice && <AdviceList advice={status.data.advice} />}
            </Stack>
          </Grid.Col>
        </Grid>
      </Stack>
    </>
  );
}
