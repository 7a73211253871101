import { Button, Group, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { isCode } from "../api/failure";
import { CallButton } from "./call-button";
import { Dialog } from "./dialog";
import { ErrorState } from "./error-state";

export interface Question {
  /** The question: “Revoke this key?” */
  title: string;
  /** The consequences, and whether they can be undone. */
  description: ReactNode;
  /** Label of the confirming button: “Revoke key”. */
  confirm: string;
  /** Label of the other button, where “Cancel” is ambiguous. */
  dismiss?: string;
  /** Whether the action takes nothing away. */
  isGain?: boolean;
  /** The dialog closes on success, and shows a thrown error. */
  onConfirm: () => Promise<unknown>;
}

interface ConfirmDialogProps extends Question {
  opened: boolean;
  onClose: () => void;
}

/** A confirmation dialog. It shows the error of its action until it closes. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, description, confirm, dismiss = "Cancel", isGain, onConfirm, opened, onClose } = props;
  const [isPending, setIsPending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // What the dialog asks about is not so any more. Opened again, it asks about the present state.
  const isOutdated = isCode(error, "decision_changed");

  function close() {
    // A sent request cannot be cancelled, and its result appears here.
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
    <Dialog opened={opened} onClose={close} title={<Text fw={600}>{title}</Text>}>
      <Stack>
        <Text component="div">{description}</Text>
        {error ? <ErrorState error={error} title="The action failed" /> : null}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={isPending} onClick={close} data-autofocus>
            {isOutdated ? "Close" : dismiss}
          </Button>
          {!isOutdated && (
            <CallButton color={isGain ? undefined : "red.8"} loading={isPending} onClick={act}>
              {confirm}
            </CallButton>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}
