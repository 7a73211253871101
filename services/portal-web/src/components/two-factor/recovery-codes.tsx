import { Alert, Button, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconDownload } from "@tabler/icons-react";
import { CopyButton } from "../copy-button";
import { Dialog } from "../dialog";
import classes from "./set-up.module.css";

interface RecoveryCodesProps {
  /** `null` hides the dialog. */
  codes: string[] | null;
  onClose: () => void;
}

/** Shows recovery codes once. Only its button closes it, so that a stray click cannot lose them. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const text = `${(codes ?? []).join("\n")}\n`;
  return (
    <Dialog
      opened={codes !== null}
      onClose={onClose}
      title={<Text fw={600}>Your recovery codes</Text>}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Alert role="note" color="yellow" variant="light" icon={<IconAlertTriangle aria-hidden />}>
          Store these codes now, not on your phone. They cannot be shown again. Each one works once in place
          of a code from your app.
        </Alert>
        <SimpleGrid
          component="ul"
          cols={{ base: 1, xs: 2 }}
          spacing="xs"
          p={0}
          m={0}
          aria-label="Recovery codes"
        >
          {(codes ?? []).map((code) => (
            <li key={code} className={classes.secret} style={{ listStyle: "none" }}>
              {code}
            </li>
          ))}
        </SimpleGrid>
        <Group gap="xs" justify="space-between">
          <Group gap="xs">
            <CopyButton value={text} label="Copy the codes" text="Copy" />
            <Button
              component="a"
              variant="default"
              leftSection={<IconDownload size={15} aria-hidden />}
              href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
              download="recovery-codes.txt"
            >
              Download
            </Button>
          </Group>
          <Button onClick={onClose}>I have stored them</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
