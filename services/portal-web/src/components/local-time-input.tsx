import { TextInput, type TextInputProps } from "@mantine/core";

interface LocalTimeInputProps
  extends Pick<TextInputProps, "label" | "description" | "error" | "required" | "className" | "size"> {
  /** RFC 3339; nothing for no time. */
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

const MINUTE_MS = 60_000;

/** A time in the user's own zone, by the browser's own field; what comes and goes is UTC. */
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
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

function utcText(local: string): string | undefined {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
