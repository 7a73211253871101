import { Outlet, ScrollRestoration, useNavigation } from "react-router-dom";
import { ConnectionNotice } from "./connection-notice";
import classes from "./root.module.css";

/** What is around every page: the bar that shows that one is on its way, and where each was scrolled to. */
export function Root() {
  const isLoading = useNavigation().state === "loading";
  return (
    <>
      {isLoading && <div className={classes.progress} role="progressbar" aria-label="Loading the page" />}
      <Outlet />
      <ConnectionNotice />
      <ScrollRestoration />
    </>
  );
}
