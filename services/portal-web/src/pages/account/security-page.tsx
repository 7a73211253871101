import { Stack } from "@mantine/core";
import { AccountFrame } from "./account-frame";
import { PasswordForm } from "./password-form";
import { Sessions } from "./sessions";

export function Component() {
  return (
    <AccountFrame>
      <Stack gap="lg">
        <PasswordForm />
        <Sessions />
      </Stack>
    </AccountFrame>
  );
}
