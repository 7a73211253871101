import { PasswordInput, type PasswordInputProps } from "@mantine/core";

/** A password field with `aria-invalid`, which the library's field lacks. */
export function PasswordField(props: PasswordInputProps) {
  return <PasswordInput aria-invalid={props.error ? true : undefined} {...props} />;
}
