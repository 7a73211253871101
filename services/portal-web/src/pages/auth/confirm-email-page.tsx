import { Alert, Anchor, Button, Stack, Text } from "@mantine/core";
import { IconCircleCheck } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router-dom";
import { asFailure, isCode } from "../../api/failure";
import { useConfirmEmail } from "../../api/profile";
import { useLogOut, useSessionQuery } from "../../api/session";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";
import { AuthFrame } from "./auth-frame";
import { useLinkToken } from "./use-link-token";

/** Where the token waits while its user logs in, perhaps on the page of an identity provider. */
const KEPT_TOKEN = "waybill.confirm-email";

/**
 * Confirms the e-mail address of a link, in a session of the account. A button does it, because programs that check mails
 * open links too.
 */
export function Component() {
  const [kept] = useState(() => sessionStorage.getItem(KEPT_TOKEN) ?? "");
  const token = useLinkToken() || kept;
  const { data: session, error, isPending, refetch } = useSessionQuery();
  if (isPending) return null;
  if (token === "") return <Unusable message="The link is incomplete. Open the link in the e-mail again." />;
  if (session) return <Confirm key={token} token={token} present={session.email} />;
  if (!error) return <LogInFirst token={token} />;
  return (
    <AuthFrame title={TITLE}>
      <ErrorState error={error} title="The portal is unreachable" onRetry={() => refetch()} />
    </AuthFrame>
  );
}

const TITLE = "Confirm your e-mail address";

const toPortal = (
  <Anchor component={Link} to="/account" size="sm">
    Go to your account
  </Anchor>
);

function Unusable({ message }: { message: string }) {
  return (
    <AuthFrame title="This link cannot be used" footer={toPortal}>
      <Text>{message}</Text>
    </AuthFrame>
  );
}

/** Who has not created the account must not confirm it for the person who has. */
function LogInFirst({ token }: { token: string }) {
  return (
    <AuthFrame title={TITLE}>
      <Stack>
        <Text>Log in to confirm that the address is yours. You then come back to this page.</Text>
        <Button
          component={Link}
          to="/log-in?next=/confirm-email"
          onClick={() => sessionStorage.setItem(KEPT_TOKEN, token)}
          fullWidth
        >
          Log in
        </Button>
        <Text c="dimmed">
          You did not create an account? Ignore the e-mail. If you want the account, the link{" "}
          <Anchor component={Link} to="/reset-password">
            Forgot your password?
          </Anchor>{" "}
          gives it to you.
        </Text>
      </Stack>
    </AuthFrame>
  );
}

function Confirm({ token, present }: { token: string; present: string }) {
  const confirm = useConfirmEmail();
  const logOut = useLogOut();
  function send() {
    sessionStorage.removeItem(KEPT_TOKEN);
    confirm.mutate(token);
  }
  if (isCode(confirm.error, "confirmation_invalid")) {
    return <Unusable message={asFailure(confirm.error).message} />;
  }
  if (isCode(confirm.error, "other_account")) {
    return (
      <AuthFrame title="This link is for another account" footer={toPortal}>
        <Stack>
          <Text>
            This browser is logged in as <strong style={{ overflowWrap: "anywhere" }}>{present}</strong>. Log
            in with the account that has asked for the link, then open the link again.
          </Text>
          {logOut.error && <ErrorState error={logOut.error} title="You could not be logged out" />}
          <CallButton fullWidth loading={logOut.isPending} onClick={() => logOut.mutate()}>
            Log out
          </CallButton>
        </Stack>
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
    <AuthFrame title={TITLE} footer={toPortal}>
      <Stack>
        <Text>
          Did you create this account or change its address? Then confirm that the address is yours.
        </Text>
        {confirm.error && <ErrorState error={confirm.error} title="The address could not be confirmed" />}
        <CallButton fullWidth loading={confirm.isPending} onClick={send}>
          Confirm e-mail address
        </CallButton>
      </Stack>
    </AuthFrame>
  );
}
