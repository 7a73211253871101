import { Button, Group, Text } from "@mantine/core";
import { asFailure } from "../api/failure";
import { useSendConfirmation } from "../api/profile";

/** Mails a link that confirms the own address, and tells the outcome. */
export function SendConfirmation({ act = "Send again" }: { act?: string }) {
  const send = useSendConfirmation();
  return (
    <Group gap="sm">
      <Button size="xs" variant="default" loading={send.isPending} onClick={() => send.mutate()}>
        {act}
      </Button>
      <Text size="sm" role="status" c={send.isError ? "red.8" : undefined}>
        {send.isSuccess && "Sent. Check your spam folder too."}
        {send.isError && asFailure(send.error).message}
      </Text>
    </Group>
  );
}
