import { Center, Text } from "@mantine/core";
import { asFailure } from "../api/failure";
import type { PagedList } from "../api/list";
import { CallButton } from "./call-button";

interface LoadMoreProps {
  list: Omit<PagedList<unknown>, "refetch">;
  /** Shows the number of rows, for long lists. */
  showsCount?: boolean;
}

/** Loads the next page of a list. */
export function LoadMore({ list, showsCount = false }: LoadMoreProps) {
  if (!list.hasNextPage) return null;
  return (
    <Center p="sm" style={{ borderTop: "1px solid var(--line)", gap: 12 }}>
      <CallButton
        variant="default"
        size="xs"
        loading={list.isFetchingNextPage}
        onClick={() => list.fetchNextPage()}
      >
        Show more
      </CallButton>
      {showsCount && (
        <Text size="xs" c="dimmed">
          {list.rows.length} shown
        </Text>
      )}
      {list.isFetchNextPageError && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {asFailure(list.error).message}
        </Text>
      )}
    </Center>
  );
}
