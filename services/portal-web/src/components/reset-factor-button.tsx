import { ConfirmButton } from "./confirm-button";

interface ResetFactorButtonProps {
  email: string;
  onReset: () => Promise<unknown>;
}

/** Removes the second factor of a person who has lost it. */
export function ResetFactorButton({ email, onReset }: ResetFactorButtonProps) {
  return (
    <ConfirmButton
      aria-label={`Reset two-factor authentication of ${email}`}
      title={`Reset two-factor authentication of ${email}?`}
      description="It is turned off, and all sessions of this person end. Verify the person’s identity first."
      confirm="Reset"
      onConfirm={onReset}
    >
      Reset two-factor
    </ConfirmButton>
  );
}
