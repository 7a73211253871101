import { Menu, UnstyledButton } from "@mantine/core";
import { IconLogout, IconSelector } from "@tabler/icons-react";
import { useLogOut } from "../api/session";
import { ColorSchemeChoices } from "./color-scheme-switch";
import { ROLE_LABELS, useSession } from "./session";
import classes from "./user-menu.module.css";

/** Who is logged in and for which business; appearance, and the way out. */
export function UserMenu() {
  const session = useSession();
  const logOut = useLogOut();
  return (
    <div className={classes.holder}>
      <Menu position="top-start" width={236} withinPortal>
        <Menu.Target>
          <UnstyledButton className={classes.button} aria-label={`Account of ${session.email}`}>
            <span className={classes.initial} aria-hidden="true">
              {session.businessName.slice(0, 1).toUpperCase()}
            </span>
            <span className={classes.names}>
              <span className={classes.business}>{session.businessName}</span>
              <span className={classes.email}>{session.email}</span>
            </span>
            <IconSelector size={15} aria-hidden />
          </UnstyledButton>
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
    </div>
  );
}
