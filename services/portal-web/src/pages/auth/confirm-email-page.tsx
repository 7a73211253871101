import { Alert, Anchor, Button, Stack, Text } from "@mantine/core";
import { IconCircleCheck } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { isCode } from "../../api/failure";
import { useConfirmEmail } from "../../api/profile";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";
import { AuthFrame } from "./auth-frame";
import { useLinkToken } from "./use-link-token";

/** Confirms the e-mail address of a link. A button does it, because programs that check mails open links too. */
export function Component() {
  const token = useLinkToken();
  return <Confirm key={token} token={token} />;
}

const toPortal = (
  <Anchor component={Link} to="/account" size="sm">
    Go to your account
  </Anchor>
);

function Confirm({ token }: { token: string }) {
  const confirm = useConfirmEmail();
  if (token === "" || isCode(confirm.error, "confirmation_invalid")) {
    return (
      <AuthFrame title="This link cannot be used" footer={toPortal}>
        <Text>{confirm.error?.message ?? "The link is incomplete. Open the link in the e-mail again."}</Text>
      </AuthFrame>
    );
  }
  if (confirm.isSuccess) {
    return (
      <AuthFrame title="E-mail address confirmed">
        <Stack>
          <Alert role="status" variant="light" color="gray" icon={<IconCircleCheck aria-hidden />}>
            <span style={{ overflowWrap: "anywhere" }}>{confirm.data.email}</span> is the confirmed address of
            your account.
          </Alert>
          <Button component={Link} to="/" fullWidth>
            Continue
          </Button>
        </Stack>
      </AuthFrame>
    );
  }
  return (
    <AuthFrame title="Confirm your e-mail address" footer={toPortal}>
      <Stack>
        <Text>
          Did you create this account or change its address? Then confirm that the address is yours.
        </Text>
        {confirm.error && <ErrorState error={confirm.error} title="The address could not be confirmed" />}
        <CallButton fullWidth loading={confirm.isPending} onClick={() => confirm.mutate(token)}>
          Confirm e-mail address
        </CallButton>
      </Stack>
    </AuthFrame>
  );
}
