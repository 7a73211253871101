import { Stack, Text } from "@mantine/core";
import { useSession } from "../../app/session";
import { Section } from "../../components/section";
import { TwoFactor } from "../../components/two-factor/two-factor";
import { AccountFrame } from "./account-frame";
import { PasswordForm } from "./password-form";
import { Profile } from "./profile";
import { Sessions } from "./sessions";

export function Component() {
  const session = useSession();
  return (
    <AccountFrame>
      <Stack gap="lg">
        <Profile />
        {session.singleSignOn ? (
          <Section title="Single sign-on">
            <Text>
              You are logged in with the account of your company. If you also have a password, log in with it
              to change your name, e-mail address, password, two-factor authentication and sessions.
            </Text>
          </Section>
        ) : (
          <>
            <PasswordForm scope="portal" email={session.email} />
            <TwoFactor scope="portal" />
            <Sessions scope="portal" />
          </>
        )}
      </Stack>
    </AccountFrame>
  );
}
