import { Button, type ButtonProps, Group, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { ErrorState } from "./error-state";

interface ConfirmButtonProps extends Omit<ButtonProps, "onClick"> {
  /** The button's own words. */
  children: ReactNode;
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
  error?: unknown;
  isPending: boolean;
  /** For a name that tells apart buttons with the same words. */
  "aria-label"?: string;
}

/** A button that asks before it does what is hard to undo. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const {
    children,
    title,
    description,
    confirm,
    dismiss = "Cancel",
    onConfirm,
    error,
    isPending,
    ...button
  } = props;
  const [isAsking, { open, close }] = useDisclosure(false);

  async function act() {
    try {
      await onConfirm();
      close();
    } catch {
      // It is in `error`, and shown above the buttons.
    }
  }

  return (
    <>
      <Button variant="default" size="xs" {...button} onClick={open}>
        {children}
      </Button>
      <Modal opened={isAsking} onClose={close} title={<Text fw={600}>{title}</Text>}>
        <Stack>
          <Text component="div">{description}</Text>
          {error ? <ErrorState error={error} title="That did not work" /> : null}
          <Group justify="flex-end" gap="xs">
            {/* What was sent cannot be called back. */}
            <Button variant="default" disabled={isPending} onClick={close} data-autofocus>
              {dismiss}
            </Button>
            <Button color="red.8" loading={isPending} onClick={act}>
              {confirm}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
