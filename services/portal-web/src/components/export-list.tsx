import { notifications } from "@mantine/notifications";
import { type Export, type ExportFormat, useExportChange } from "../api/exports";
import { asFailure } from "../api/failure";
import type { AccountScope } from "../api/recent-authentication";
import { endOfDay, startOfDay } from "../format/day";
import { ExportMenu } from "./export-menu";
import type { Period } from "./period-fields";

const FORMATS: { format: ExportFormat; label: string }[] = [
  { format: "xlsx", label: "Excel (XLSX)" },
  { format: "csv", label: "CSV" },
];

/** The times of a period. */
export interface ExportPeriod {
  from?: string;
  until?: string;
}

interface ExportListProps {
  scope: AccountScope;
  /** Asks for the file of the list, with its present filter. */
  begin: (format: ExportFormat, period: ExportPeriod) => Promise<Export>;
  /** For a list without days in its filter: asks for days, and says of what. */
  days?: string;
}

/** Exports all rows of a list, also those that are not shown yet. */
export function ExportList({ scope, begin, days }: ExportListProps) {
  const change = useExportChange(scope, ({ format, period }: { format: ExportFormat; period: Period }) =>
    begin(format, { from: startOfDay(period.from), until: endOfDay(period.to) }),
  );
  const start = (format: ExportFormat, period: Period) =>
    change.mutate(
      { format, period },
      {
        onSuccess: async (begun) => (await import("./follow-export")).followExport(scope, begun),
        onError: (error) => notifications.show({ color: "red", message: asFailure(error).message }),
      },
    );
  const choices = FORMATS.map(({ format, label }) => ({
    label,
    choose: (period: Period) => start(format, period),
  }));
  return <ExportMenu choices={choices} isPending={change.isPending} days={days} />;
}
