import { TextInput } from "@mantine/core";
import { useState } from "react";

interface AddressFieldProps {
  onAddress: (address: string | undefined) => void;
}

/** What could be an IP address; the server decides. Everything else would only be an error. */
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|[\da-f:.]*:[\da-f:.]*)$/i;

/** An IP address as a filter. It applies once it is complete. */
export function AddressField({ onAddress }: AddressFieldProps) {
  const [text, setText] = useState("");
  const given = text.trim();
  const isComplete = given === "" || ADDRESS.test(given);
  return (
    <TextInput
      size="xs"
      label="IP address"
      placeholder="203.0.113.9"
      spellCheck={false}
      autoComplete="off"
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => isComplete && onAddress(given || undefined)}
      onKeyDown={(event) => event.key === "Enter" && isComplete && onAddress(given || undefined)}
      error={isComplete ? null : "Enter a complete IP address."}
    />
  );
}
