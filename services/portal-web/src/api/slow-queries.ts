import { type Query, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

/** A fetch that takes longer is reported to the user. */
const SLOW_MS = 3_000;
const CHECK_MS = 500;

/** The page's slow queries that have no data to show yet. */
export function useSlowQueries(): Query[] {
  const client = useQueryClient();
  const [slow, setSlow] = useState<Query[]>([]);
  useEffect(() => {
    let since = new Map<Query, number>();
    const timer = window.setInterval(() => {
      const now = Date.now();
      const waiting = client.getQueryCache().findAll({ type: "active", predicate: isWaiting });
      since = new Map(waiting.map((query) => [query, since.get(query) ?? now]));
      const found = waiting.filter((query) => now - (since.get(query) ?? now) >= SLOW_MS);
      setSlow((known) => (isSame(known, found) ? known : found));
    }, CHECK_MS);
    return () => window.clearInterval(timer);
  }, [client]);
  return slow;
}

function isWaiting(query: Query): boolean {
  return query.state.data === undefined && query.state.fetchStatus === "fetching";
}

function isSame(some: Query[], others: Query[]): boolean {
  return some.length === others.length && some.every((query, index) => query === others[index]);
}

/** Cancels the running fetches and starts them again. */
export async function restartQueries(client: QueryClient, queries: Query[]) {
  await Promise.all(
    queries.map(async ({ queryKey }) => {
      await client.cancelQueries({ queryKey, exact: true });
      await client.refetchQueries({ queryKey, exact: true });
    }),
  );
}
