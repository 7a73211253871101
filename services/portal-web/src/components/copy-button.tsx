import { ActionIcon, Button, VisuallyHidden } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";

const SHOWN_MS = 2_000;

interface CopyButtonProps {
  value: string;
  /** Accessible name: “Copy the key”. */
  label: string;
  /** Visible label next to the icon. */
  text?: string;
}

/** Copies a text and confirms it. */
export function CopyButton({ value, label, text }: CopyButtonProps) {
  const clipboard = useClipboard({ timeout: SHOWN_MS });
  const copy = () => clipboard.copy(value);
  const icon = clipboard.copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />;
  const announcement = (
    <VisuallyHidden role="status">
      {clipboard.copied ? "Copied" : clipboard.error ? "Copying failed" : ""}
    </VisuallyHidden>
  );
  if (text) {
    return (
      <>
        <Button variant="default" leftSection={icon} onClick={copy} aria-label={label}>
          {clipboard.copied ? "Copied" : text}
        </Button>
        {announcement}
      </>
    );
  }
  return (
    <>
      <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={label} title={label}>
        {icon}
      </ActionIcon>
      {announcement}
    </>
  );
}
