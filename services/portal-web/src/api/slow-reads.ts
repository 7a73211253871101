import { type Query, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

/** How long something is waited for before that is said. */
const SLOW_MS = 3_000;
const LOOK_MS = 500;

/** What this page waits for longer than usual, having nothing to show in its place. */
export function useSlowReads(): Query[] {
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
    }, LOOK_MS);
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

/** Gives up what is on its way, and asks anew. */
export async function readAnew(client: QueryClient, queries: Query[]) {
  await Promise.all(
    queries.map(async ({ queryKey }) => {
      await client.cancelQueries({ queryKey, exact: true });
      await client.refetchQueries({ queryKey, exact: true });
    }),
  );
}
