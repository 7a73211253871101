import { Button, Center, Stack, Text, Title } from "@mantine/core";

/** When a page breaks, or its script is gone since a new version was put in place. */
export function PageFailed() {
  return (
    <Center mih="60vh" p="md">
      <Stack align="center" gap="xs" maw="26rem" ta="center">
        <Title order={1}>This page did not load</Title>
        <Text c="dimmed">
          The portal may have been updated meanwhile. Nothing that you did before is lost. Reload the page to
          go on.
        </Text>
        <Button mt="sm" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </Stack>
    </Center>
  );
}
