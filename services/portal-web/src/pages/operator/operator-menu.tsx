import { ActionIcon, Menu } from "@mantine/core";
import { IconSunMoon } from "@tabler/icons-react";
import { ColorSchemeChoices } from "../../app/color-scheme-switch";

/** Selects the colour scheme. */
export function OperatorMenu() {
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label="Appearance">
          <IconSunMoon size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <ColorSchemeChoices />
      </Menu.Dropdown>
    </Menu>
  );
}
