import { Box, Group, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { useConfig } from "../api/config";

interface PageHeaderProps {
  title: string;
  /** The purpose of the page in one sentence. */
  description?: ReactNode;
  /** Buttons of the page. */
  actions?: ReactNode;
}

/** A page's title, also shown in the browser tab. */
export function PageHeader({ title, description, actions }: PageHeaderProps) {
  usePageTitle(title);
  return (
    <Group component="header" justify="space-between" align="flex-start" gap="md" mb="lg">
      <Box style={{ flex: "1 1 20rem" }}>
        <Title order={1} style={{ overflowWrap: "anywhere" }}>
          {title}
        </Title>
        {description && (
          <Text component="div" c="dimmed" mt={4} maw="42rem">
            {description}
          </Text>
        )}
      </Box>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}

export function usePageTitle(title: string) {
  const { brand } = useConfig();
  useEffect(() => {
    document.title = `${title} · ${brand.name}`;
  }, [title, brand.name]);
}
