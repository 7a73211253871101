import { Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { CallButton } from "./call-button";

interface ExportMenuProps<Format extends string> {
  formats: { format: Format; label: string }[];
  isPending: boolean;
  onExport: (format: Format) => void;
}

/** A button that asks for the format of a file. */
export function ExportMenu<Format extends string>(props: ExportMenuProps<Format>) {
  const { formats, isPending, onExport } = props;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <CallButton
          variant="default"
          size="xs"
          loading={isPending}
          leftSection={<IconDownload size={14} aria-hidden />}
        >
          Export
        </CallButton>
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map(({ format, label }) => (
          <Menu.Item key={format} onClick={() => onExport(format)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
