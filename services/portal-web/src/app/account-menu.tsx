import { Menu } from "@mantine/core";
import { IconLogout, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useLogOut } from "../api/session";
import { BusinessChoices } from "./business-choices";
import { ColorSchemeChoices } from "./color-scheme-switch";
import { CreateBusinessDialog } from "./create-business-dialog";
import { ROLE_LABELS, useSession } from "./session";
import { UserButton } from "./user-button";
import classes from "./user-menu.module.css";

/** The businesses, the appearance and log-out. Starts open, because the first click loads it. */
export default function AccountMenu() {
  const session = useSession();
  const logOut = useLogOut();
  const [isCreating, setIsCreating] = useState(false);
  return (
    <>
      <Menu position="top-start" width={236} withinPortal defaultOpened>
        <Menu.Target>
          <UserButton />
        </Menu.Target>
        <Menu.Dropdown className={classes.dropdown}>
          <Menu.Label>Logged in as {ROLE_LABELS[session.role].toLowerCase()}</Menu.Label>
          <BusinessChoices />
          <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
            Add a business
          </Menu.Item>
          <Menu.Divider />
          <ColorSchemeChoices />
          <Menu.Divider />
          <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => logOut.mutate()}>
            Log out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <CreateBusinessDialog opened={isCreating} onClose={() => setIsCreating(false)} />
    </>
  );
}
