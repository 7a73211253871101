import { Menu, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { IconDownload, IconLogout, IconSelector, IconUserCog } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { useOperatorLogOut } from "../../api/operator-session";
import type { OperatorSession } from "../../api/types";
import { ColorSchemeChoices } from "../../app/color-scheme-switch";
import { Initial } from "../../components/initial";
import { OPERATOR_ROLE_LABELS } from "./operator-roles";
import classes from "./operator-shell.module.css";

/** The page of the own account, or of the sessions of the installation token. */
export const ACCOUNT_PATH = "/operator/account";

/** The own files. */
export const EXPORTS_PATH = "/operator/exports";

export function accountLabel(session: OperatorSession): string {
  return session.type === "person" ? "Your account" : "Sessions";
}

/** Who is logged in, with the own account, the colour scheme and the log-out. */
export function OperatorMenu({ session }: { session: OperatorSession }) {
  const logOut = useOperatorLogOut();
  const isPerson = session.type === "person";
  const name = isPerson ? (session.displayName ?? session.name) : "Installation token";
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton className={classes.account}>
          <VisuallyHidden>Account: </VisuallyHidden>
          <Initial of={name} />
          <span className={classes.name}>{name}</span>
          {isPerson && <VisuallyHidden>, {session.name}</VisuallyHidden>}
          <IconSelector size={15} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label style={{ overflowWrap: "anywhere" }}>
          {isPerson ? session.name : name}
          {`, ${OPERATOR_ROLE_LABELS[session.role].toLowerCase()}`}
        </Menu.Label>
        <Menu.Item component={Link} to={ACCOUNT_PATH} leftSection={<IconUserCog size={16} aria-hidden />}>
          {accountLabel(session)}
        </Menu.Item>
        <Menu.Item component={Link} to={EXPORTS_PATH} leftSection={<IconDownload size={16} aria-hidden />}>
          Exports
        </Menu.Item>
        <Menu.Divider />
        <ColorSchemeChoices />
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => logOut.mutate()}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
