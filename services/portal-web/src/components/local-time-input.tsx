import { Text, TextInput, type TextInputProps } from "@mantine/core";
import { fromLocalTime, toLocalTime } from "../format/region";
import { zoneName } from "../format/time";

interface LocalTimeInputProps
  extends Pick<TextInputProps, "label" | "description" | "error" | "required" | "className" | "size"> {
  /** RFC 3339, or `undefined` for an empty field. */
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** The browser's date and time field in the operator's time zone. Values are UTC. */
export function LocalTimeInput({ value, onChange, ...input }: LocalTimeInputProps) {
  return (
    <TextInput
      {...input}
      rightSection={
        <Text size="xs" c="dimmed">
          {zoneName()}
        </Text>
      }
      rightSectionPointerEvents="none"
      type="datetime-local"
      value={value ? localText(value) : ""}
      onChange={(event) => onChange(utcText(event.currentTarget.value))}
    />
  );
}

function localText(iso: string): string {
  return toLocalTime(new Date(iso));
}

function utcText(local: string): string | undefined {
  return fromLocalTime(local)?.toISOString();
}
