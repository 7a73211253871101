import { Box, Skeleton, Stack } from "@mantine/core";
import { usePickupProfile } from "../../api/pickup-profile";
import { useMay } from "../../app/session";
import { ErrorState } from "../../components/error-state";
import { PageHeader } from "../../components/page-header";
import { StatusBadge } from "../../components/status-badge";
import { ProfileForm } from "./profile-form";

export function Component() {
  const profile = usePickupProfile();
  const canChange = useMay("manage_integration");
  return (
    <Box maw="46rem">
      <PageHeader
        title="Pickup profile"
        description="Where drivers pick up your parcels. An order can name another pickup address."
        actions={profile.data && <CompletenessBadge isComplete={profile.data.complete} />}
      />
      {profile.data ? (
        <ProfileForm profile={profile.data} canChange={canChange} />
      ) : profile.error ? (
        <ErrorState error={profile.error} onRetry={() => profile.refetch()} />
      ) : (
        <Loading />
      )}
    </Box>
  );
}

function CompletenessBadge({ isComplete }: { isComplete: boolean }) {
  return (
    <StatusBadge pill tone={isComplete ? "good" : "idle"} label={isComplete ? "Complete" : "Incomplete"} />
  );
}

function Loading() {
  return (
    <Stack gap="md" role="status" aria-label="Loading the profile" aria-busy="true">
      <Skeleton height={32} />
      <Skeleton height={214} radius="lg" />
      <Skeleton height={388} radius="lg" />
    </Stack>
  );
}
