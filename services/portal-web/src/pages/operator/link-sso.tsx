import { Group, Stack, Text } from "@mantine/core";
import { useConfig } from "../../api/config";
import { useOperatorSession } from "../../api/operator-session";
import { useStartSso } from "../../api/single-sign-on";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";
import { Section } from "../../components/section";

/** Links the own account with the identity provider. */
export function LinkSso() {
  const { singleSignOn } = useConfig();
  const { data: session } = useOperatorSession();
  const start = useStartSso();
  if (!singleSignOn) return null;
  return (
    <Section
      title="Single sign-on"
      description="Log in with your company’s account. Its groups then decide your role."
    >
      {session?.singleSignOn ? (
        <Text>You are logged in with single sign-on.</Text>
      ) : (
        <Stack>
          {start.error && <ErrorState error={start.error} title="Your account was not linked" />}
          <Group>
            <CallButton loading={start.isPending} onClick={() => start.mutate("link")}>
              Link your company account
            </CallButton>
          </Group>
        </Stack>
      )}
    </Section>
  );
}
