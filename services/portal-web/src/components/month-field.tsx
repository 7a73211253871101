import { NativeSelect } from "@mantine/core";
import { formatMonth } from "../format/day";
import { toLocalTime } from "../format/region";
import type { Period } from "./period-fields";

const MONTHS_OFFERED = 24;

interface MonthFieldProps {
  period: Period;
  onChange: (period: Period) => void;
  className?: string;
}

/** Sets the first and the last day to those of a calendar month. */
export function MonthField({ period, onChange, className }: MonthFieldProps) {
  const months = latestMonths(toLocalTime(new Date()));
  const chosen = months.find((month) => {
    const { from, to } = daysOf(month);
    return from === period.from && to === period.to;
  });
  return (
    <NativeSelect
      aria-label="Month"
      className={className}
      value={chosen ?? ""}
      onChange={({ currentTarget: { value } }) =>
        onChange(value === "" ? { from: undefined, to: undefined } : daysOf(value))
      }
      data={[
        { value: "", label: "Any month" },
        ...months.map((month) => ({ value: month, label: formatMonth(month) })),
      ]}
    />
  );
}

/** `2026-01` and the months before, newest first. */
function latestMonths(today: string): string[] {
  const [year = 0, month = 1] = today.split("-").map(Number);
  return Array.from({ length: MONTHS_OFFERED }, (_, back) =>
    new Date(Date.UTC(year, month - 1 - back, 1)).toISOString().slice(0, 7),
  );
}

function daysOf(month: string): Period {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const last = new Date(Date.UTC(year, number, 0));
  return { from: `${month}-01`, to: last.toISOString().slice(0, 10) };
}
