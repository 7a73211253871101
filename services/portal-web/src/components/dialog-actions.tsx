import { Button, Group } from "@mantine/core";
import type { ReactNode } from "react";

interface DialogActionsProps {
  /** The act: “Create key”. */
  children: ReactNode;
  isPending: boolean;
  disabled?: boolean;
  onCancel: () => void;
  /** Without it, the act is to submit the form around it. */
  onAct?: () => void;
}

/** At the foot of a dialog: the way back, and the act. */
export function DialogActions({ children, isPending, disabled, onCancel, onAct }: DialogActionsProps) {
  return (
    <Group justify="flex-end" gap="xs">
      {/* What was sent cannot be called back. */}
      <Button variant="default" disabled={isPending} onClick={onCancel}>
        Cancel
      </Button>
      <Button type={onAct ? "button" : "submit"} loading={isPending} disabled={disabled} onClick={onAct}>
        {children}
      </Button>
    </Group>
  );
}
