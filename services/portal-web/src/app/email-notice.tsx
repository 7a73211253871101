import { Alert, Stack, Text } from "@mantine/core";
import { IconMail } from "@tabler/icons-react";
import { SendConfirmation } from "../components/send-confirmation";
import { useSession } from "./session";
import { useIsUnconfirmed } from "./use-is-unconfirmed";

/** Asks users to confirm their e-mail address, above each page. */
export function EmailNotice() {
  const { email, singleSignOn } = useSession();
  if (!useIsUnconfirmed()) return null;
  return (
    <Alert
      data-notice
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
          {singleSignOn ? "Your company says that your address is " : "Open the link that we sent to "}
          <strong style={{ overflowWrap: "anywhere" }}>{email}</strong>. Until{" "}
          {singleSignOn ? "you confirm it," : "then"} you receive no warnings, and cannot invite others or set
          up two-factor authentication or single sign-on.
        </Text>
        <SendConfirmation act={singleSignOn ? "Send a link" : "Send again"} />
      </Stack>
    </Alert>
  );
}
