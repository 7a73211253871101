import type { PasswordInputProps } from "@mantine/core";
import { PasswordField } from "../../components/password-field";
import { PASSWORD_MIN } from "./rules";

/** Where a new password is chosen: how long it must be is said, and browsers offer to make one up. */
export function NewPasswordField(props: PasswordInputProps) {
  return (
    <PasswordField
      description={`At least ${PASSWORD_MIN} characters.`}
      autoComplete="new-password"
      {...props}
    />
  );
}
