import { ActionIcon, Menu } from "@mantine/core";
import { IconSunMoon } from "@tabler/icons-react";
import type { OperatorSession } from "../../api/types";
import { ColorSchemeChoices } from "../../app/color-scheme-switch";
import { OPERATOR_ROLE_LABELS } from "./operator-roles";

/** Who is logged in, and the colour scheme. */
export function OperatorMenu({ session }: { session: OperatorSession }) {
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label="Appearance">
          <IconSunMoon size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label style={{ overflowWrap: "anywhere" }}>
          {session.type === "configuration" ? "Token of the settings" : session.name}
          {`, ${OPERATOR_ROLE_LABELS[session.role].toLowerCase()}`}
        </Menu.Label>
        <ColorSchemeChoices />
      </Menu.Dropdown>
    </Menu>
  );
}
