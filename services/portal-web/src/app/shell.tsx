import { Burger } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, Navigate, Outlet, useLocation } from "react-router-dom";
import { useSessionQuery } from "../api/session";
import { ErrorState } from "../components/error-state";
import { Brand } from "./brand";
import { SessionProvider } from "./session";
import classes from "./shell.module.css";
import { SideBar } from "./side-bar";
import { useFocusOnArrival } from "./use-focus-on-arrival";

/** Around the pages of somebody who is logged in; whoever is not goes to the log-in, and comes back afterwards. */
export function Shell() {
  const { data: session, error, isPending, refetch } = useSessionQuery();
  const location = useLocation();
  if (isPending) return null;
  if (session) {
    return (
      // Nothing that a page holds of one user is shown to the next.
      <SessionProvider key={session.userId} session={session}>
        <Frame />
      </SessionProvider>
    );
  }
  if (error) {
    return (
      <div className={classes.alone}>
        <ErrorState error={error} title="The portal cannot be reached" onRetry={() => refetch()} />
      </div>
    );
  }
  const wanted = `${location.pathname}${location.search}`;
  return <Navigate to={wanted === "/" ? "/log-in" : `/log-in?next=${encodeURIComponent(wanted)}`} replace />;
}

function Frame() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const main = useFocusOnArrival(close);
  return (
    <div className={classes.frame} data-open={isOpen || undefined}>
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <header className={classes.header}>
        <Link to="/" className={classes.brandLink}>
          <Brand />
        </Link>
        <Burger
          opened={isOpen}
          onClick={toggle}
          size="sm"
          aria-label="Navigation"
          aria-expanded={isOpen}
          aria-controls="side-bar"
        />
      </header>
      <aside id="side-bar" aria-label="Side bar" className={classes.sideBar}>
        <SideBar onNavigate={close} />
      </aside>
      <main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <div className={classes.page}>
          <Outlet />
        </div>
      </main>
    </div>
  );
}
