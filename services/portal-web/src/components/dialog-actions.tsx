import { Button, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { CallButton } from "./call-button";

interface DialogActionsProps {
  /** Label of the submit button: “Create key”. */
  children: ReactNode;
  isPending: boolean;
  disabled?: boolean;
  /** Another button of the dialog is the first choice. */
  isSecondary?: boolean;
  onCancel: () => void;
  /** Label of the other button. */
  cancel?: string;
  /** Without it, the button submits the surrounding form. */
  onAct?: () => void;
}

/** The “Cancel” and submit buttons of a dialog. */
export function DialogActions(props: DialogActionsProps) {
  const { children, isPending, disabled, isSecondary = false, onCancel, cancel = "Cancel", onAct } = props;
  return (
    <Group justify="flex-end" gap="xs">
      {/* A sent request cannot be cancelled. */}
      <Button variant="default" disabled={isPending} onClick={onCancel}>
        {cancel}
      </Button>
      <CallButton
        type={onAct ? "button" : "submit"}
        variant={isSecondary ? "default" : "filled"}
        loading={isPending}
        disabled={disabled}
        onClick={onAct}
      >
        {children}
      </CallButton>
    </Group>
  );
}
