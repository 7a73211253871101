import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { CopyButton } from "./copy-button";
import classes from "./secret-once.module.css";

interface SecretOnceProps {
  /** `null` while there is nothing to show. */
  secret: string | null;
  /** “Your Test key” */
  title: string;
  /** What the secret is, for names: “key”. */
  what: string;
  /** Where it belongs, and what became of the former one. */
  children?: ReactNode;
  onClose: () => void;
}

/** A secret that is shown this once. It closes by its own button alone, so that no stray click loses it. */
export function SecretOnce({ secret, title, what, children, onClose }: SecretOnceProps) {
  return (
    <Modal
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
          Copy it now: this {what} is shown only once. It cannot be shown again, not even by us.
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
    </Modal>
  );
}
