import { Box, Group, Paper, Text, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

export interface SectionProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** Without padding, for tables and lists. */
  flush?: boolean;
  id?: string;
  children: ReactNode;
}

/** A framed section of a page, with a heading. */
export function Section({ title, description, actions, flush = false, id, children }: SectionProps) {
  const headingId = useId();
  return (
    <Paper component="section" aria-labelledby={headingId} id={id} style={{ overflow: "clip" }}>
      <Group justify="space-between" align="flex-start" gap="sm" px="md" pt="md" pb={flush ? "sm" : 0}>
        <Box style={{ flex: "1 1 14rem" }}>
          <Title order={2} id={headingId}>
            {title}
          </Title>
          {description && (
            <Text c="dimmed" mt={2}>
              {description}
            </Text>
          )}
        </Box>
        {actions}
      </Group>
      <Box p={flush ? 0 : "md"}>{children}</Box>
    </Paper>
  );
}
