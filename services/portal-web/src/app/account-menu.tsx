import { Menu } from "@mantine/core";
import { IconLogout } from "@tabler/icons-react";
import { useLogOut } from "../api/session";
import { ColorSchemeChoices } from "./color-scheme-switch";
import { ROLE_LABELS, useSession } from "./session";
import { UserButton } from "./user-button";

/** Appearance and log-out. Starts open, because the first click loads it. */
export default function AccountMenu() {
  const session = useSession();
  const logOut = useLogOut();
  return (
    <Menu position="top-start" width={236} withinPortal defaultOpened>
      <Menu.Target>
        <UserButton />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Logged in as {ROLE_LABELS[session.role].toLowerCase()}</Menu.Label>
        <ColorSchemeChoices />
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => logOut.mutate()}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
