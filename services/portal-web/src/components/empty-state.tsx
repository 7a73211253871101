import { Button, Center, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyStateProps {
  icon?: ReactNode;
  title: string;
  /** What will be here, and how it comes. */
  children: ReactNode;
  action?: ReactNode;
}

/** Where nothing is yet, what would be and how to begin. */
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

interface NothingFitsProps extends Omit<EmptyStateProps, "title" | "action"> {
  title?: string;
  /** What shows all again: “Clear the filters”. */
  clear?: string;
  onClear: () => void;
}

/** Where something is, but not what the filters want: the way back to all of it. */
export function NothingFits({
  title = "Nothing fits these filters",
  clear = "Clear the filters",
  onClear,
  ...rest
}: NothingFitsProps) {
  const action = (
    <Button variant="default" size="xs" onClick={onClear}>
      {clear}
    </Button>
  );
  return <EmptyState {...rest} title={title} action={action} />;
}
