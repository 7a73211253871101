import { Stack, Text } from "@mantine/core";
import { ConfirmAddressFirst } from "../../app/confirm-address-first";
import { useMay, useSession } from "../../app/session";
import { useIsUnconfirmed } from "../../app/use-is-unconfirmed";
import { Section } from "../../components/section";
import { TwoFactor } from "../../components/two-factor/two-factor";
import { AccountFrame } from "./account-frame";
import { BusinessContact } from "./business-contact";
import { PasswordForm } from "./password-form";
import { Profile } from "./profile";
import { Sessions } from "./sessions";

export function Component() {
  const session = useSession();
  const isUnconfirmed = useIsUnconfirmed();
  const mayChangeBusiness = useMay("manage_business");
  return (
    <AccountFrame>
      <Stack gap="lg">
        <Profile />
        {mayChangeBusiness && <BusinessContact />}
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
            <TwoFactor
              scope="portal"
              before={isUnconfirmed ? <ConfirmAddressFirst act="set it up" /> : undefined}
            />
            <Sessions scope="portal" />
          </>
        )}
      </Stack>
    </AccountFrame>
  );
}
