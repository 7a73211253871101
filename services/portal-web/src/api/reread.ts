import { hashKey, type QueryClient, type QueryKey } from "@tanstack/react-query";

/** Queries to fetch once more when their running fetch ends. */
const awaited = new Set<string>();

/**
 * Refetches a changed query. A running fetch is not cancelled: with frequent changes, no fetch would ever finish. It may
 * have started before the change, so another fetch follows it.
 */
export async function reread(client: QueryClient, queryKey: QueryKey): Promise<void> {
  const hash = hashKey(queryKey);
  if (awaited.has(hash)) return;
  const isOnItsWay = client.isFetching({ queryKey }) > 0;
  if (isOnItsWay) awaited.add(hash);
  await client.invalidateQueries({ queryKey }, { cancelRefetch: false });
  if (!isOnItsWay) return;
  awaited.delete(hash);
  await client.invalidateQueries({ queryKey }, { cancelRefetch: false });
}
