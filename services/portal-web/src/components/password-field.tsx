import { PasswordInput, type PasswordInputProps } from "@mantine/core";

/** A password's field that also says to screen readers when it is wrong, which the library's own leaves out. */
export function PasswordField(props: PasswordInputProps) {
  return <PasswordInput aria-invalid={props.error ? true : undefined} {...props} />;
}
