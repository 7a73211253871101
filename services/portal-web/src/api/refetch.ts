import { hashKey, type QueryClient, type QueryKey } from "@tanstack/react-query";

/** Queries to fetch once more when their running fetch ends. */
const queued = new Set<string>();

/**
 * Refetches a changed query. A running fetch is not cancelled: with frequent changes, no fetch would ever finish. It may
 * have started before the change, so another fetch follows it.
 */
export async function refetchQuery(client: QueryClient, queryKey: QueryKey): Promise<void> {
  const hash = hashKey(queryKey);
  if (queued.has(hash)) return;
  const isRunning = client.isFetching({ queryKey }) > 0;
  if (isRunning) queued.add(hash);
  await client.invalidateQueries({ queryKey }, { cancelRefetch: false });
  if (!isRunning) return;
  queued.delete(hash);
  await client.invalidateQueries({ queryKey }, { cancelRefetch: false });
}
