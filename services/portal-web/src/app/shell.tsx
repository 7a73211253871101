import { Burger } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { Link, Navigate, Outlet, useLocation } from "react-router-dom";
import { useSessionQuery } from "../api/session";
import { ErrorState } from "../components/error-state";
import { Brand } from "./brand";
import { EmailNotice } from "./email-notice";
import { SearchOrders } from "./search-orders";
import { SessionProvider } from "./session";
import classes from "./shell.module.css";
import { SideBar } from "./side-bar";
import { SuspensionNotice } from "./suspension-notice";
import { useFocusOnArrival } from "./use-focus-on-arrival";

/** Frame of the pages for logged-in users. Guests are sent to the login page, and back afterwards. */
export function Shell() {
  const { data: session, error, isPending, refetch } = useSessionQuery();
  const location = useLocation();
  if (isPending) return null;
  if (session) {
    return (
      // Keyed by user, so that no page state passes to the next user.
      <SessionProvider key={session.userId} session={session}>
        <Enrolled isRequired={session.mfaEnrolmentRequired === true}>
          <Frame />
        </Enrolled>
      </SessionProvider>
    );
  }
  if (error) {
    return (
      <div className={classes.alone}>
        <ErrorState error={error} title="The portal is unreachable" onRetry={() => refetch()} />
      </div>
    );
  }
  const wanted = `${location.pathname}${location.search}`;
  return <Navigate to={wanted === "/" ? "/log-in" : `/log-in?next=${encodeURIComponent(wanted)}`} replace />;
}

const RequiredSetUp = lazy(() => import("../pages/auth/required-set-up"));

/** Leads users whose role requires two-factor authentication to its set-up. Holds it until they have stored their codes. */
function Enrolled({ isRequired, children }: { isRequired: boolean; children: ReactNode }) {
  const [isSettingUp, setIsSettingUp] = useState(isRequired);
  if (isRequired && !isSettingUp) setIsSettingUp(true);
  if (!isSettingUp) return children;
  return (
    <Suspense fallback={null}>
      <RequiredSetUp onDone={() => setIsSettingUp(false)} />
    </Suspense>
  );
}

function Frame() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const main = useFocusOnArrival(close);
  return (
    <div className={classes.frame} data-open={isOpen || undefined}>
      <a href="#main" className={classes.skip}>
        Skip to content
      </a>
      <header className={classes.header}>
        <Link to="/" className={classes.brandLink}>
          <Brand />
        </Link>
        <div className={classes.tools}>
          <SearchOrders isIcon />
          <Burger
            opened={isOpen}
            onClick={toggle}
            size="sm"
            aria-label="Navigation"
            aria-expanded={isOpen}
            aria-controls="side-bar"
          />
        </div>
      </header>
      <aside id="side-bar" aria-label="Side bar" className={classes.sideBar}>
        <SideBar onNavigate={close} />
      </aside>
      <main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <div className={classes.page}>
          <SuspensionNotice />
          <EmailNotice />
          <Outlet />
        </div>
      </main>
    </div>
  );
}
