import { Alert, Stack, Text } from "@mantine/core";
import { IconMail } from "@tabler/icons-react";
import { SendConfirmation } from "../components/send-confirmation";
import { useSession } from "./session";
import { useIsUnconfirmed } from "./use-is-unconfirmed";

/** Asks users to confirm their e-mail address, above each page. */
export function EmailNotice() {
  const { email } = useSession();
  if (!useIsUnconfirmed()) return null;
  return (
    <Alert
      role="region"
      aria-label="Confirm your e-mail address"
      title="Confirm your e-mail address"
      color="yellow"
      variant="light"
      icon={<IconMail aria-hidden />}
      mb="lg"
    >
      <Stack gap="xs">
        <Text size="sm">
          Open the link that we sent to <strong style={{ overflowWrap: "anywhere" }}>{email}</strong>. Until
          then you receive no warnings and cannot invite others.
        </Text>
        <SendConfirmation />
      </Stack>
    </Alert>
  );
}
