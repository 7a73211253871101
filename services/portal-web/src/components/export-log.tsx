import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { download } from "../api/download";
import { asFailure } from "../api/failure";
import { ExportMenu } from "./export-menu";

interface ExportLogProps {
  /** The path of the log; its formats are below `path.csv` and `path.jsonl`. */
  path: string;
  /** The log's filter: only matching entries are exported. */
  filter: object;
}

const FORMATS = [
  { extension: "csv", label: "CSV, for spreadsheets" },
  { extension: "jsonl", label: "JSON Lines, for programs" },
];

/** Downloads all entries that match the filter. */
export function ExportLog({ path, filter }: ExportLogProps) {
  const save = useMutation({
    mutationFn: (extension: string) => download(urlOf(path, extension, filter)),
    onError: (error) => notifications.show({ color: "red", message: asFailure(error).message }),
  });
  const choices = FORMATS.map(({ extension, label }) => ({ label, choose: () => save.mutate(extension) }));
  return <ExportMenu choices={choices} isPending={save.isPending} />;
}

function urlOf(path: string, extension: string, filter: object): string {
  const given = Object.entries(filter).filter(([, value]) => value);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${path}.${extension}${query && `?${query}`}`;
}
