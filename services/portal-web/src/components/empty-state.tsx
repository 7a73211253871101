import { Center, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { CallButton } from "./call-button";

interface EmptyStateProps {
  icon?: ReactNode;
  title: string;
  /** What will appear here, and how. */
  children: ReactNode;
  action?: ReactNode;
}

/** Shown instead of an empty list, with a first step. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <Center px="md" py="xl">
      <Stack align="center" gap={6} maw="26rem" ta="center">
        {icon && (
          <Text component="span" c="dimmed" aria-hidden="true" mb={4}>
            {icon}
          </Text>
        )}
        <Text fw={600}>{title}</Text>
        <Text c="dimmed">{children}</Text>
        {action && <div style={{ marginTop: 10 }}>{action}</div>}
      </Stack>
    </Center>
  );
}

interface NoMatchesProps extends Omit<EmptyStateProps, "title" | "action"> {
  title?: string;
  /** Label of the button that removes the filters. */
  clear?: string;
  onClear: () => void;
}

/** Shown if no row matches the filters, with a button that removes them. */
export function NoMatches({
  title = "No results match these filters",
  clear = "Clear filters",
  onClear,
  ...rest
}: NoMatchesProps) {
  const action = (
    <CallButton variant="default" size="xs" onClick={onClear}>
      {clear}
    </CallButton>
  );
  return <EmptyState {...rest} title={title} action={action} />;
}
