import { Stack } from "@mantine/core";
import { useSession } from "../../app/session";
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
        <PasswordForm scope="portal" email={session.email} />
        <TwoFactor scope="portal" />
        <Sessions scope="portal" />
      </Stack>
    </AccountFrame>
  );
}
