import { Outlet, ScrollRestoration, useNavigation } from "react-router-dom";
import { ConfirmIdentity } from "./confirm-identity";
import { ConnectionNotice } from "./connection-notice";
import classes from "./root.module.css";

/** Wraps every page: loading bar, connection notice, the dialog that confirms the identity, and scroll positions. */
export function Root() {
  const isLoading = useNavigation().state === "loading";
  return (
    <>
      {isLoading && <div className={classes.progress} role="progressbar" aria-label="Loading the page" />}
      <Outlet />
      <ConnectionNotice />
      <ConfirmIdentity />
      <ScrollRestoration />
    </>
  );
}
