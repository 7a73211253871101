import { AppShell, Burger, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import { Link, Navigate, Outlet, useLocation } from "react-router-dom";
import { useSessionQuery } from "../api/session";
import { ErrorState } from "../components/error-state";
import { Brand } from "./brand";
import { SessionProvider } from "./session";
import classes from "./shell.module.css";
import { SideBar } from "./side-bar";

const SIDE_BAR_WIDTH = 236;

/** Around the pages of somebody who is logged in; whoever is not goes to the log-in, and comes back afterwards. */
export function Shell() {
  const { data: session, error, isPending, refetch } = useSessionQuery();
  const location = useLocation();
  if (isPending) return null;
  if (session) {
    return (
      <SessionProvider session={session}>
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
    <AppShell
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: SIDE_BAR_WIDTH, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
    >
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <AppShell.Header hiddenFrom="sm" className={classes.header}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Link to="/" className={classes.brandLink}>
            <Brand />
          </Link>
          <Burger opened={isOpen} onClick={toggle} size="sm" aria-label="Navigation" aria-expanded={isOpen} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.sideBar}>
        <SideBar onNavigate={close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <div className={classes.page}>
          <Outlet />
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

/** After a link was followed, keyboard and screen reader begin at the new page, as they would after a full load. */
function useFocusOnArrival(onArrival: () => void) {
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    onArrival();
    main.current?.focus({ preventScroll: true });
  }, [pathname, onArrival]);
  return main;
}
