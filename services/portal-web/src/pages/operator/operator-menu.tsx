import { ActionIcon, Menu } from "@mantine/core";
import { IconShieldLock, IconSunMoon } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import type { OperatorSession } from "../../api/types";
import { ColorSchemeChoices } from "../../app/color-scheme-switch";
import { OPERATOR_ROLE_LABELS } from "./operator-roles";

/** Who is logged in, the colour scheme, and the own account. */
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
        <Menu.Divider />
        <Menu.Item
          component={Link}
          to="/operator/account"
          leftSection={<IconShieldLock size={16} aria-hidden />}
        >
          {session.type === "person" ? "Your account" : "Sessions"}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
