import { Button, Center, Text } from "@mantine/core";

interface LoadMoreProps {
  hasMore: boolean;
  isLoading: boolean;
  onMore: () => void;
  /** How many are shown, to say so at the end of a long list. */
  shown?: number;
}

/** The way on at the end of a list. */
export function LoadMore({ hasMore, isLoading, onMore, shown }: LoadMoreProps) {
  if (!hasMore) return null;
  return (
    <Center p="sm" style={{ borderTop: "1px solid var(--line)", gap: 12 }}>
      <Button variant="default" size="xs" loading={isLoading} onClick={onMore}>
        Show more
      </Button>
      {shown !== undefined && (
        <Text size="xs" c="dimmed">
          {shown} shown
        </Text>
      )}
    </Center>
  );
}
