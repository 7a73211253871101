import { Burger, Center, Loader, VisuallyHidden } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense, useState } from "react";
import { Link, NavLink } from "react-router-dom";
import { useWaitingApprovals } from "../../api/operator-approvals";
import { may, useOperatorSession } from "../../api/operator-session";
import type { OperatorSession } from "../../api/types";
import { Brand } from "../../app/brand";
import navLink from "../../app/nav-link.module.css";
import shell from "../../app/shell.module.css";
import { useFocusOnArrival } from "../../app/use-focus-on-arrival";
import { ErrorState } from "../../components/error-state";
import { CONSOLE_PAGES } from "./console-pages";
import { ACCOUNT_PATH, accountLabel, EXPORTS_PATH, OperatorMenu } from "./operator-menu";
import classes from "./operator-shell.module.css";
import { PermittedPage } from "./permitted-page";
import { SearchOrders } from "./search-orders";

// Loaded on demand, because most visits need neither.
const OperatorLogIn = lazy(async () => ({ default: (await import("./operator-log-in")).OperatorLogIn }));
const RequiredSetUpPage = lazy(async () => ({
  default: (await import("./required-set-up")).RequiredSetUpPage,
}));

const LOADING = (
  <Center mih="100vh">
    <Loader size="sm" role="status" aria-label="Loading the console" />
  </Center>
);

export function Component() {
  return (
    <Suspense fallback={LOADING}>
      <Console />
    </Suspense>
  );
}

/** Frame of the operator's pages. The login replaces the page at its own address, so that it opens afterwards. */
function Console() {
  const { data: session, error, isPending, refetch } = useOperatorSession();
  // Holds the set-up of a required second factor until the person has stored the recovery codes.
  const [isSettingUp, setIsSettingUp] = useState(false);
  if (isPending) return LOADING;
  const isRequired = session?.mfaEnrolmentRequired === true;
  if (isRequired && !isSettingUp) setIsSettingUp(true);
  if (session && isSettingUp) return <RequiredSetUpPage onDone={() => setIsSettingUp(false)} />;
  if (session) return <Frame session={session} />;
  if (error) {
    return (
      <div className={shell.alone}>
        <ErrorState error={error} title="The console is unreachable" onRetry={() => refetch()} />
      </div>
    );
  }
  return <OperatorLogIn />;
}

function Frame({ session }: { session: OperatorSession }) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const main = useFocusOnArrival(close);
  const waiting = useWaitingApprovals(may(session, "review_approvals"));
  return (
    <>
      <a href="#main" className={shell.skip}>
        Skip to content
      </a>
      <header className={classes.header}>
        <div className={classes.bar} data-open={isOpen || undefined}>
          <Link to="/operator/overview" className={shell.brandLink}>
            <Brand />
          </Link>
          <span className={classes.tag}>Operator</span>
          <nav id="console-pages" aria-label="Main" className={classes.nav}>
            {CONSOLE_PAGES.filter(({ permission }) => may(session, permission)).map(({ path, label }) => (
              <NavLink key={path} to={path} className={`${navLink.link} ${classes.link}`} onClick={close}>
                {label}
                {label === "Approvals" && waiting > 0 && <Waiting count={waiting} />}
              </NavLink>
            ))}
            {/* On a wide screen, the menu with the name has them. */}
            {[
              { path: EXPORTS_PATH, label: "Exports" },
              { path: ACCOUNT_PATH, label: accountLabel(session) },
            ].map(({ path, label }) => (
              <NavLink
                key={path}
                to={path}
                className={`${navLink.link} ${classes.link} ${classes.phoneOnly}`}
                onClick={close}
              >
                {label}
              </NavLink>
            ))}
          </nav>
          <div className={classes.end}>
            <SearchOrders session={session} />
            <OperatorMenu session={session} />
            <Burger
              hiddenFrom="sm"
              opened={isOpen}
              onClick={toggle}
              size="sm"
              aria-label="Navigation"
              aria-expanded={isOpen}
              aria-controls="console-pages"
            />
          </div>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1} className={shell.main}>
        <div className={shell.page}>
          <PermittedPage session={session} />
        </div>
      </main>
    </>
  );
}

/** How many requests wait for this person. */
function Waiting({ count }: { count: number }) {
  return (
    <>
      {/* Without the space, screen readers read "Approvals1". */}{" "}
      <span className={classes.waiting}>
        {count}
        <VisuallyHidden> waiting</VisuallyHidden>
      </span>
    </>
  );
}
