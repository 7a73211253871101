import { Skeleton, VisuallyHidden } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router-dom";
import type { Status } from "../../api/types";
import { useHasPage } from "../../app/use-has-page";
import { StatusBadge } from "../../components/status-badge";
import { INDICATORS, toneOf } from "./indicator-tones";
import classes from "./indicators.module.css";

/** The seven indicators. Screen readers announce their changes. */
export function Indicators({ status }: { status: Status | undefined }) {
  const news = useChanges(status);
  const hasPage = useHasPage();
  return (
    <section aria-label="Status indicators" aria-busy={!status}>
      <dl className={classes.grid}>
        {INDICATORS.map(({ name, title, page }) => {
          const indicator = status?.indicators[name];
          return (
            <div key={name} className={classes.cell}>
              <dt className={classes.title}>
                {hasPage(page) ? (
                  <Link to={page} className={classes.link}>
                    {title}
                  </Link>
                ) : (
                  title
                )}
              </dt>
              <dd className={classes.value}>
                {indicator ? (
                  <StatusBadge tone={toneOf(indicator.code)} label={indicator.label} />
                ) : (
                  <Skeleton height={14} my={3} width="70%" />
                )}
              </dd>
            </div>
          );
        })}
      </dl>
      <VisuallyHidden aria-live="polite">{news}</VisuallyHidden>
    </section>
  );
}

/** The changes since the previous status: “Test API Status: Active.” Empty for the first status. */
function useChanges(status: Status | undefined): string {
  const before = useRef<Status | undefined>(undefined);
  const [news, setNews] = useState("");
  useEffect(() => {
    const old = before.current;
    before.current = status;
    if (!old || !status) return;
    const changes = INDICATORS.filter(
      ({ name }) => old.indicators[name].label !== status.indicators[name].label,
    );
    if (changes.length === 0) return;
    setNews(changes.map(({ name, title }) => `${title}: ${status.indicators[name].label}.`).join(" "));
  }, [status]);
  return news;
}
