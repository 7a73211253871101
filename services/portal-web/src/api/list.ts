import { type QueryKey, useInfiniteQuery } from "@tanstack/react-query";
import type { List } from "./types";

/** A search reads many orders. Looking at its page again repeats it at most this often. */
export const SEARCH_FRESH_MS = 10_000;

/** Rows per page of a list. */
export const PAGE_SIZE = 25;

/** The parts of a paginated query that list components use. */
export interface PagedList<T> {
  rows: T[];
  error: unknown;
  isPending: boolean;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => unknown;
  refetch: () => unknown;
}

/** A cursor-paginated list: the last id of a page is the cursor of the next one, unless the page names another. */
export function useCursorList<T extends { id: string }, Page extends List<T> = List<T>>(
  queryKey: QueryKey,
  read: (startingAfter: string | undefined) => Promise<Page & List<T>>,
  options: { enabled?: boolean; pollMs?: (rows: T[]) => number | false; freshMs?: number } = {},
) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last: Page & List<T>) =>
      last.hasMore ? (last.next ?? last.data.at(-1)?.id) : undefined,
    enabled: options.enabled ?? true,
    refetchInterval: ({ state }) => options.pollMs?.(rowsOf(state.data?.pages)) ?? false,
    ...(options.freshMs !== undefined && { staleTime: options.freshMs }),
  });
  return { ...query, rows: rowsOf(query.data?.pages) };
}

/** Services whose data is missing from any loaded page. */
export function missingOf(pages: { incomplete?: string[] }[] = []): string[] {
  return [...new Set(pages.flatMap((page) => page.incomplete ?? []))];
}

function rowsOf<T>(pages: List<T>[] = []): T[] {
  return pages.flatMap((page) => page.data);
}
