import { notifications } from "@mantine/notifications";
import { type Export, type ExportFormat, useExportChange } from "../api/exports";
import { asFailure } from "../api/failure";
import type { AccountScope } from "../api/recent-authentication";
import { ExportMenu } from "./export-menu";

const FORMATS: { format: ExportFormat; label: string }[] = [
  { format: "xlsx", label: "Excel (XLSX)" },
  { format: "csv", label: "CSV" },
];

interface ExportListProps {
  scope: AccountScope;
  /** Asks for the file of the list, with its present filter. */
  begin: (format: ExportFormat) => Promise<Export>;
}

/** Exports all rows of a list, also those that are not shown yet. */
export function ExportList({ scope, begin }: ExportListProps) {
  const change = useExportChange(scope, begin);
  const start = (format: ExportFormat) =>
    change.mutate(format, {
      onSuccess: async (begun) => (await import("./follow-export")).followExport(scope, begun),
      onError: (error) => notifications.show({ color: "red", message: asFailure(error).message }),
    });
  const choices = FORMATS.map(({ format, label }) => ({ label, choose: () => start(format) }));
  return <ExportMenu choices={choices} isPending={change.isPending} />;
}
