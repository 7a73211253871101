import { Group, Text } from "@mantine/core";
import { asFailure } from "../api/failure";
import { useSendConfirmation } from "../api/profile";
import { CallButton } from "./call-button";

/** Mails a link that confirms the own address, and tells the outcome. */
export function SendConfirmation({ act = "Send again" }: { act?: string }) {
  const send = useSendConfirmation();
  return (
    <Group gap="sm">
      <CallButton size="xs" variant="default" loading={send.isPending} onClick={() => send.mutate()}>
        {act}
      </CallButton>
      <Text size="sm" role="status" c={send.isError ? "red.8" : undefined}>
        {send.isSuccess && "Sent. Check your spam folder too."}
        {send.isError && asFailure(send.error).message}
      </Text>
    </Group>
  );
}
