import { TextInput, type TextInputProps } from "@mantine/core";

/** A field for a code of an authenticator app. */
export function CodeField(props: TextInputProps) {
  return (
    <TextInput
      label="Code from your app"
      description="Six digits, or a recovery code."
      autoComplete="one-time-code"
      autoCapitalize="off"
      spellCheck={false}
      {...props}
    />
  );
}
