import { Stack } from "@mantine/core";
import { TwoFactor } from "../../components/two-factor/two-factor";
import { AccountFrame } from "./account-frame";
import { PasswordForm } from "./password-form";
import { Profile } from "./profile";
import { Sessions } from "./sessions";

export function Component() {
  return (
    <AccountFrame>
      <Stack gap="lg">
        <Profile />
        <PasswordForm />
        <TwoFactor scope="portal" />
        <Sessions />
      </Stack>
    </AccountFrame>
  );
}
