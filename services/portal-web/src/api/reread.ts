import { hashKey, type QueryClient, type QueryKey } from "@tanstack/react-query";

/** What is read once more as soon as its present reading has ended. */
const awaited = new Set<string>();

/**
 * Reads again what has changed. A reading that is on its way is never called off: where changes come faster than answers,
 * none would ever come. It may have begun before the change, so that it is followed by one more.
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
