import { Stack, Text } from "@mantine/core";
import { SendConfirmation } from "../components/send-confirmation";

/** Instead of what needs a confirmed e-mail address. */
export function ConfirmAddressFirst({ act }: { act: string }) {
  return (
    <Stack>
      <Text>Confirm your e-mail address first: open the link that we sent to it. Then you can {act}.</Text>
      <SendConfirmation />
    </Stack>
  );
}
