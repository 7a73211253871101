import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { download } from "../api/download";
import { asFailure } from "../api/failure";
import { CallButton } from "./call-button";

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
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <CallButton
          variant="default"
          size="xs"
          loading={save.isPending}
          leftSection={<IconDownload size={14} aria-hidden />}
        >
          Export
        </CallButton>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMATS.map(({ extension, label }) => (
          <Menu.Item key={extension} onClick={() => save.mutate(extension)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function urlOf(path: string, extension: string, filter: object): string {
  const given = Object.entries(filter).filter(([, value]) => value);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${path}.${extension}${query && `?${query}`}`;
}
