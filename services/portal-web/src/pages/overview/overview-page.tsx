import { lazy, Suspense } from "react";
import type { Home } from "../../api/home";
import { useHome } from "../../api/home";
import { useStatus } from "../../api/status";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { useToday } from "../../components/time";
import { HomePart } from "./home-part";
import { RefusalNotice } from "./refusal-notice";

// Most visits are after the first live order, and need no quick start.
const Onboarding = lazy(async () => ({ default: (await import("./onboarding")).Onboarding }));

const LOADING = <Loading what="Loading the overview" height={360} radius="lg" />;

/** The home page: the way to the first live order, and afterwards what happens today. */
export function Component() {
  const home = useHome(useToday());
  const isLive = useIsLive(home.data, home.error !== null);
  return (
    <>
      <PageHeader
        title="Overview"
        description={
          isLive
            ? "Your live orders today, and what needs your attention."
            : "The status of your integration, and what is missing for live orders."
        }
      />
      <RefusalNotice />
      {isLive === undefined ? (
        LOADING
      ) : !isLive ? (
        <Suspense fallback={LOADING}>
          <Onboarding />
        </Suspense>
      ) : home.data ? (
        <HomePart home={home.data} />
      ) : (
        <ErrorState
          error={home.error}
          title="The overview could not be loaded"
          onRetry={() => home.refetch()}
        />
      )}
    </>
  );
}

/**
 * Whether the business has placed a live order. Without an answer about its orders, whether it may place some. `undefined`
 * until it is known.
 */
function useIsLive(home: Home | undefined, isFailed: boolean): boolean | undefined {
  const isUnknown = isFailed || home?.orders === null;
  const { data: status, error } = useStatus(false, isUnknown);
  if (home?.orders) return Boolean(home.orders.lastAt);
  if (!isUnknown) return undefined;
  return status ? status.goLive.unlocked : error ? false : undefined;
}
