import { Text } from "@mantine/core";
import type { ReactNode } from "react";

interface MaskedNoticeProps {
  /** Set by the server where it masked something. */
  isMasked: boolean | undefined | null;
  children?: ReactNode;
}

/** Why phones and addresses are incomplete. */
export function MaskedNotice({ isMasked, children }: MaskedNoticeProps) {
  if (!isMasked) return null;
  return (
    <Text c="dimmed" size="xs" role="note" mb="sm">
      Your role does not show customers’ phones and addresses. {children}
    </Text>
  );
}
