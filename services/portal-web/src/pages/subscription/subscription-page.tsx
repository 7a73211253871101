import { Box, Skeleton } from "@mantine/core";
import { useReloadOnChange } from "../../api/changes";
import { subscriptionKey, useSubscription } from "../../api/subscription";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { Plans } from "./plans";
import { SubscriptionStatus } from "./subscription-status";

const SHOWN = [subscriptionKey];

export function Component() {
  useReloadOnChange(SHOWN);
  const { data: subscription, error, refetch } = useSubscription();
  return (
    <Box maw="46rem">
      <PageHeader
        title="Subscription"
        description="Live orders need an active subscription. Test orders do not."
      />
      {subscription ? (
        <>
          <SubscriptionStatus subscription={subscription} />
          <Plans subscription={subscription} />
        </>
      ) : error ? (
        <ErrorState error={error} onRetry={() => refetch()} />
      ) : (
        <>
          <Loading what="Loading the subscription" height={92} radius="lg" mb="md" />
          <Skeleton height={226} radius="lg" />
        </>
      )}
    </Box>
  );
}
