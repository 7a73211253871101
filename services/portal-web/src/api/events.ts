import { useInfiniteQuery } from "@tanstack/react-query";
import { answer, api } from "./client";
import { missingOf, PAGE_SIZE } from "./list";
import type { components, operations } from "./schema";

type Schemas = components["schemas"];
export type BusinessEvent = Schemas["BusinessEventView"];
type Query = NonNullable<operations["listEvents"]["parameters"]["query"]>;
export type EventFilter = Omit<Query, "limit" | "startingAfter">;

const POLL_MS = 10_000;

/** The events of all orders. Follows the list's own cursor: a page can be short or empty while more pages follow. */
export function useEvents(filter: EventFilter) {
  const query = useInfiniteQuery({
    queryKey: ["events", filter],
    queryFn: ({ pageParam }) => {
      const params = { query: { ...filter, limit: PAGE_SIZE, startingAfter: pageParam } };
      return answer(api.GET("/v1/portal/events", { params }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.continueAfter ?? undefined,
    // Polls only the first page, so that reading older events is not interrupted.
    refetchInterval: ({ state }) => (state.data && state.data.pages.length > 1 ? false : POLL_MS),
  });
  const pages = query.data?.pages ?? [];
  return { ...query, rows: pages.flatMap((page) => page.data), missing: missingOf(pages) };
}
