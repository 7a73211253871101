import { notifications } from "@mantine/notifications";
import { ConfirmButton } from "./confirm-button";

interface EndSessionsButtonProps {
  email: string;
  onEnd: () => Promise<{ revoked: number }>;
}

/** Logs a person out of all browsers. */
export function EndSessionsButton({ email, onEnd }: EndSessionsButtonProps) {
  async function end() {
    const { revoked } = await onEnd();
    notifications.show({ message: `${revoked} ${revoked === 1 ? "session" : "sessions"} ended.` });
  }
  return (
    <ConfirmButton
      aria-label={`End sessions of ${email}`}
      title={`End all sessions of ${email}?`}
      description="All browsers of this person are logged out. The password still works: to lock the person out, remove them."
      confirm="End sessions"
      onConfirm={end}
    >
      End sessions
    </ConfirmButton>
  );
}
