import { Alert, Anchor, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link, useNavigate } from "react-router-dom";
import { asFailure } from "../../api/failure";
import { useAcceptInvitation, useInvitationPreview, useSessionQuery } from "../../api/session";
import { Loading } from "../../components/loading";
import { AuthForm } from "./auth-form";
import { AuthFrame } from "./auth-frame";
import { InvitationFrame, type InvitationProps } from "./invitation-frame";
import { JoinWithAccount } from "./join-with-account";
import { NewPasswordField } from "./new-password-field";
import { newPasswordError } from "./rules";
import { useLinkToken } from "./use-link-token";

export function Component() {
  const token = useLinkToken();
  const preview = useInvitationPreview(token);
  if (token === "" || preview.error) return <NotInvited error={preview.error} />;
  if (!preview.data) {
    return (
      <AuthFrame title="Your invitation">
        <Loading what="Loading the invitation" height={220} />
      </AuthFrame>
    );
  }
  const Join = preview.data.hasAccount ? JoinWithAccount : Accept;
  return <Join token={token} invitation={preview.data} />;
}

function NotInvited({ error }: { error: unknown }) {
  return (
    <AuthFrame
      title="This invitation cannot be used"
      footer={
        <Anchor component={Link} to="/log-in" size="sm">
          Go to login
        </Anchor>
      }
    >
      <Text>{error ? asFailure(error).message : "The link is incomplete."}</Text>
      <Text c="dimmed" mt="sm">
        An invitation works once, within seven days, unless it is withdrawn or replaced by a newer one. Open
        the link from the message again, or ask for a new invitation.
      </Text>
    </AuthFrame>
  );
}

/** For an address without an account: a password creates one. */
function Accept({ token, invitation }: InvitationProps) {
  const accept = useAcceptInvitation();
  const navigate = useNavigate();
  const { data: session } = useSessionQuery();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { password: "" },
    validate: { password: newPasswordError },
  });
  const join = ({ password }: { password: string }) =>
    accept.mutate({ token, password }, { onSuccess: () => navigate("/", { replace: true }) });
  return (
    <InvitationFrame invitation={invitation}>
      {session && (
        <Alert role="note" variant="light" color="yellow" mb="md">
          This browser is logged in as {session.email}. Joining logs that account out of this browser.
        </Alert>
      )}
      <AuthForm form={form} call={accept} onSubmit={join} act="Join">
        <Text>
          Your e-mail: <strong>{invitation.email}</strong>
        </Text>
        <input type="hidden" autoComplete="username" value={invitation.email} readOnly />
        <NewPasswordField
          label="Choose a password"
          autoFocus
          key={form.key("password")}
          {...form.getInputProps("password")}
        />
      </AuthForm>
    </InvitationFrame>
  );
}
