import { TextInput } from "@mantine/core";
import { useState } from "react";

interface DayFieldProps {
  label: string;
  /** Called with `YYYY-MM-DD`, or with an empty text. */
  onDay: (date: string) => void;
}

/** A day as the limit of a filter. */
export function DayField({ label, onDay }: DayFieldProps) {
  const [date, setDate] = useState("");
  return (
    <TextInput
      size="xs"
      type="date"
      label={label}
      value={date}
      onChange={(event) => {
        setDate(event.currentTarget.value);
        onDay(event.currentTarget.value);
      }}
    />
  );
}
