import { TextInput, type TextInputProps } from "@mantine/core";
import { momentAt, wallClock } from "../format/place";

interface LocalTimeInputProps
  extends Pick<TextInputProps, "label" | "description" | "error" | "required" | "className" | "size"> {
  /** RFC 3339; nothing for no time. */
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A time in the operator's zone, by the browser's own field; what comes and goes is UTC. */
export function LocalTimeInput({ value, onChange, ...input }: LocalTimeInputProps) {
  return (
    <TextInput
      {...input}
      type="datetime-local"
      value={value ? localText(value) : ""}
      onChange={(event) => onChange(utcText(event.currentTarget.value))}
    />
  );
}

function localText(iso: string): string {
  return wallClock(new Date(iso));
}

function utcText(local: string): string | undefined {
  return momentAt(local)?.toISOString();
}
