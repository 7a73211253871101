import type { PasswordInputProps } from "@mantine/core";
import { PasswordField } from "../../components/password-field";
import { PASSWORD_MIN } from "./rules";

/** A field for a new password. It states the minimum length, and lets browsers suggest a password. */
export function NewPasswordField(props: PasswordInputProps) {
  return (
    <PasswordField
      description={`At least ${PASSWORD_MIN} characters.`}
      autoComplete="new-password"
      {...props}
    />
  );
}
