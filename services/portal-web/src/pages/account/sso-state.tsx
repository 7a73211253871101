import { Alert, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useRemoveSso, useTestSso } from "../../api/business-sso";
import type { SsoProvider } from "../../api/types";
import { CallButton } from "../../components/call-button";
import { ConfirmButton } from "../../components/confirm-button";
import { ErrorState } from "../../components/error-state";
import { Section } from "../../components/section";
import { Time } from "../../components/time";

/** What the provider can be used without. */
const MISSING: Record<string, string> = {
  auth_time:
    "Without it, nobody knows when a person last authenticated. Sensitive calls ask the provider to authenticate the person again, and rely on it.",
  email_verified:
    "Without it, the first login of a person creates a new user, even if there is one with the same address. Link the two on the page Team. Allowed domains do not match either: give groups a role.",
};

/** Whether it is on, with a test of the provider. */
export function SsoState({ provider, canChange }: { provider: SsoProvider; canChange: boolean }) {
  const test = useTestSso();
  const remove = useRemoveSso();
  return (
    <Section
      title="Single sign-on is on"
      description={
        <>
          Changed <Time at={provider.updatedAt} relative />.
        </>
      }
    >
      <Stack>
        <Text>
          {provider.required
            ? "Everybody but the owners must log in with it."
            : "Passwords are accepted as well."}
        </Text>
        {provider.openToAnyone && (
          <Alert role="alert" color="red" variant="light" title="Nobody can join at present">
            Everybody whom the provider knows would get the role of “Everybody else”. Enter the allowed
            domains below. Users who have joined keep their access.
          </Alert>
        )}
        {test.error && <ErrorState error={test.error} title="The provider could not be tested" />}
        {test.data && (
          <Alert role="status" color={test.data.ok ? "green" : "red"} variant="light">
            {test.data.ok ? "The provider answers, and can be used." : `Problem: ${test.data.problem}.`}
          </Alert>
        )}
        {test.data?.missingClaims.map((claim) => (
          <Alert key={claim} role="note" color="yellow" variant="light" title={`It does not list ${claim}`}>
            {MISSING[claim]}
          </Alert>
        ))}
        <Group gap="xs">
          <CallButton size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
            Test the provider
          </CallButton>
          {canChange && (
            <ConfirmButton
              title="Turn single sign-on off?"
              description="Sessions that the provider has opened end at once. People without a password can no longer log in."
              confirm="Turn off"
              onConfirm={async () => {
                await remove.mutateAsync();
                notifications.show({ message: "Single sign-on is off." });
              }}
            >
              Turn off
            </ConfirmButton>
          )}
        </Group>
      </Stack>
    </Section>
  );
}
