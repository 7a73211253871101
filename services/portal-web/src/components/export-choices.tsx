import { Menu } from "@mantine/core";
import { ExportButton } from "./export-menu";

export interface ExportMenuProps {
  choices: { label: string; choose: () => void }[];
  isPending: boolean;
}

/** Starts open, because the first click loads it. */
export default function ExportChoices({ choices, isPending }: ExportMenuProps) {
  return (
    <Menu position="bottom-end" defaultOpened>
      <Menu.Target>
        <ExportButton loading={isPending} />
      </Menu.Target>
      <Menu.Dropdown>
        {choices.map(({ label, choose }) => (
          <Menu.Item key={label} onClick={choose}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
