import { Button, FileButton } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import type { ReactNode } from "react";

interface UploadButtonProps {
  onText: (text: string) => void;
  children: ReactNode;
}

/** Reads a chosen CSV file. */
export function UploadButton({ onText, children }: UploadButtonProps) {
  const read = async (file: File | null) => {
    if (file) onText(await file.text());
  };
  return (
    <FileButton accept=".csv,text/csv" onChange={read}>
      {(props) => (
        <Button {...props} size="xs" variant="default" leftSection={<IconUpload size={14} aria-hidden />}>
          {children}
        </Button>
      )}
    </FileButton>
  );
}
