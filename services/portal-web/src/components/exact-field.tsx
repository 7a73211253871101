import { TextInput } from "@mantine/core";
import { useEffect, useState } from "react";

interface ExactFieldProps {
  label: string;
  placeholder: string;
  /** What could be a value; the server decides. Everything else would only be an error. */
  pattern: RegExp;
  /** Shown while the value is incomplete. */
  hint: string;
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}

/** A filter for one exact value. It applies once it is complete. */
export function ExactField({ label, placeholder, pattern, hint, value = "", onValue }: ExactFieldProps) {
  const [text, setText] = useState(value);
  // A value from outside replaces the text.
  useEffect(() => setText(value), [value]);
  const given = text.trim();
  const isComplete = given === "" || pattern.test(given);
  const apply = () => isComplete && given !== value && onValue(given || undefined);
  return (
    <TextInput
      size="xs"
      label={label}
      placeholder={placeholder}
      spellCheck={false}
      autoComplete="off"
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === "Enter" && apply()}
      error={isComplete ? null : hint}
    />
  );
}
