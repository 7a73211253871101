import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { ErrorState } from "./error-state";

export interface Question {
  /** The question: “Revoke this key?” */
  title: string;
  /** What happens then, and whether it can be undone. */
  description: ReactNode;
  /** The act: “Revoke key”. */
  confirm: string;
  /** The way back, where “Cancel” could mean the act itself. */
  dismiss?: string;
  /** Closes the question when it is done; what it throws is shown. */
  onConfirm: () => Promise<unknown>;
}

interface ConfirmDialogProps extends Question {
  opened: boolean;
  onClose: () => void;
}

/** Asks before something is done. It shows what became of its own act, and forgets that when it closes. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, description, confirm, dismiss = "Cancel", onConfirm, opened, onClose } = props;
  const [isPending, setIsPending] = useState(false);
  const [error, setError] = useState<unknown>(null);

  function close() {
    // What was sent cannot be called back, and what becomes of it is told here.
    if (isPending) return;
    setError(null);
    onClose();
  }

  async function act() {
    setIsPending(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
    } finally {
      setIsPending(false);
    }
  }

  return (
    <Modal opened={opened} onClose={close} title={<Text fw={600}>{title}</Text>}>
      <Stack>
        <Text component="div">{description}</Text>
        {error ? <ErrorState error={error} title="That did not work" /> : null}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={isPending} onClick={close} data-autofocus>
            {dismiss}
          </Button>
          <Button color="red.8" loading={isPending} onClick={act}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
