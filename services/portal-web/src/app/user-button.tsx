import { UnstyledButton, type UnstyledButtonProps, VisuallyHidden } from "@mantine/core";
import { IconSelector } from "@tabler/icons-react";
import type { ComponentPropsWithRef } from "react";
import { Initial } from "../components/initial";
import { useSession } from "./session";
import classes from "./user-menu.module.css";

/** Shows the user and the business. The caller attaches the menu. */
export function UserButton(props: UnstyledButtonProps & ComponentPropsWithRef<"button">) {
  const session = useSession();
  return (
    <UnstyledButton {...props} className={classes.button}>
      <VisuallyHidden>Account: </VisuallyHidden>
      <Initial of={session.businessName} />
      <span className={classes.names}>
        <span className={classes.business}>{session.businessName}</span>{" "}
        <span className={classes.email}>{session.email}</span>
      </span>
      <IconSelector size={15} aria-hidden />
    </UnstyledButton>
  );
}
