import { Divider } from "@mantine/core";
import { IconFingerprint } from "@tabler/icons-react";
import { CallButton } from "../call-button";

interface UsePasskeyButtonProps {
  isPending: boolean;
  onClick: () => void;
  /** What the form below takes instead: “or with a code”. */
  or: string;
  "data-autofocus"?: boolean;
  autoFocus?: boolean;
}

/** The first choice of people who have a passkey. A form follows it. */
export function UsePasskeyButton({ isPending, onClick, or, ...focus }: UsePasskeyButtonProps) {
  return (
    <>
      <CallButton
        leftSection={<IconFingerprint size={18} aria-hidden />}
        loading={isPending}
        onClick={onClick}
        fullWidth
        {...focus}
      >
        Use a passkey
      </CallButton>
      <Divider label={or} />
    </>
  );
}
