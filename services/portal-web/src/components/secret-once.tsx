import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { CopyButton } from "./copy-button";
import { Dialog } from "./dialog";
import classes from "./secret-once.module.css";

interface SecretOnceProps {
  /** `null` hides the dialog. */
  secret: string | null;
  /** “Your Test key” */
  title: string;
  /** The kind of secret, for labels: “key”. */
  what: string;
  /** Where to store it, and what happens to the old one. */
  children?: ReactNode;
  onClose: () => void;
}

/** Shows a secret once. Only its button closes it, so that a stray click cannot lose the secret. */
export function SecretOnce({ secret, title, what, children, onClose }: SecretOnceProps) {
  return (
    <Dialog
      opened={secret !== null}
      onClose={onClose}
      title={<Text fw={600}>{title}</Text>}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Alert role="note" color="yellow" variant="light" icon={<IconAlertTriangle aria-hidden />}>
          Copy this {what} now. It cannot be shown again.
        </Alert>
        <div className={classes.secret}>
          <output className={classes.text} aria-label={title}>
            {secret}
          </output>
          <CopyButton value={secret ?? ""} label={`Copy the ${what}`} text="Copy" />
        </div>
        {children && (
          <Text component="div" c="dimmed">
            {children}
          </Text>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>I have stored it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
