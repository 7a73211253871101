import { Center, Stack, Text } from "@mantine/core";
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
