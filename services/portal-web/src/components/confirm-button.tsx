import type { ButtonProps } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { CallButton } from "./call-button";
import { ConfirmDialog, type Question } from "./confirm-dialog";

interface ConfirmButtonProps extends Omit<ButtonProps, "onClick">, Question {
  /** The button's label. */
  children: ReactNode;
  /** Before the dialog opens. */
  onOpen?: () => void;
  /** Distinguishes buttons with the same label. */
  "aria-label"?: string;
}

/** A button that asks for confirmation. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { children, title, description, confirm, dismiss, isGain, onConfirm, onOpen, ...button } = props;
  const [isAsking, { open, close }] = useDisclosure(false);
  const ask = () => {
    onOpen?.();
    open();
  };
  return (
    <>
      <CallButton variant="default" size="xs" {...button} onClick={ask}>
        {children}
      </CallButton>
      <ConfirmDialog
        opened={isAsking}
        onClose={close}
        title={title}
        description={description}
        confirm={confirm}
        dismiss={dismiss}
        isGain={isGain}
        onConfirm={onConfirm}
      />
    </>
  );
}
