import { TextInput } from "@mantine/core";
import { periodError } from "../format/day";

/** Two days, `YYYY-MM-DD`. */
export interface Period {
  from?: string;
  to?: string;
}

interface PeriodFieldsProps {
  period: Period;
  onChange: (period: Period) => void;
}

/** The first and the last day of a filter. */
export function PeriodFields({ period, onChange }: PeriodFieldsProps) {
  const field = (label: string, name: keyof Period, error?: string | null) => (
    <TextInput
      size="xs"
      type="date"
      label={label}
      value={period[name] ?? ""}
      error={error}
      onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
    />
  );
  return (
    <>
      {field("From", "from", periodError(period))}
      {field("To", "to")}
    </>
  );
}
