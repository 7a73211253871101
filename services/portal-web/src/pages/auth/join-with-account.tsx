import { Alert, Anchor, Group, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link } from "react-router-dom";
import { isChallenge, useJoinBusiness, useLogIn, useSecondStep, useSessionQuery } from "../../api/session";
import { PasswordField } from "../../components/password-field";
import { AuthForm } from "./auth-form";
import { InvitationFrame, type InvitationProps } from "./invitation-frame";
import { SecondStep } from "./second-step";

/** For an address that has an account: its owner logs in, and joins with one click. */
export function JoinWithAccount({ token, invitation }: InvitationProps) {
  const { data: session, isPending } = useSessionQuery();
  if (isPending) return null;
  const isTheirs = session?.email.toLowerCase() === invitation.email.toLowerCase();
  if (isTheirs) return <Join token={token} invitation={invitation} />;
  return <LogInFirst token={token} invitation={invitation} present={session?.email} />;
}

function Join({ token, invitation }: InvitationProps) {
  const join = useJoinBusiness();
  const form = useForm({ mode: "uncontrolled", initialValues: {} });
  // The portal loads anew after the call.
  const call = { error: join.error, isPending: join.isPending || join.isSuccess };
  return (
    <InvitationFrame invitation={invitation}>
      <AuthForm form={form} call={call} onSubmit={() => join.mutate(token)} act="Join">
        <Text>
          You are logged in as <strong>{invitation.email}</strong>. Your other businesses stay as they are,
          and the account menu switches between them.
        </Text>
      </AuthForm>
    </InvitationFrame>
  );
}

function LogInFirst({ invitation, present }: InvitationProps & { present: string | undefined }) {
  const logIn = useLogIn();
  const secondStep = useSecondStep();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { password: "" },
    validate: { password: (password) => (password === "" ? "Enter your password." : null) },
  });
  function restart() {
    secondStep.reset();
    logIn.reset();
  }
  if (isChallenge(logIn.data)) {
    return <SecondStep scope="portal" challenge={logIn.data} call={secondStep} onBack={restart} />;
  }
  return (
    <InvitationFrame invitation={invitation}>
      {present && (
        <Alert role="note" variant="light" color="yellow" mb="md">
          This browser is logged in as {present}, but the invitation is for another address.
        </Alert>
      )}
      <AuthForm
        form={form}
        call={logIn}
        onSubmit={({ password }) => logIn.mutate({ email: invitation.email, password })}
        act="Log in"
      >
        <Text>
          <strong>{invitation.email}</strong> has an account. Log in with its password, then join.
        </Text>
        <input type="hidden" autoComplete="username" value={invitation.email} readOnly />
        <div>
          <PasswordField
            label="Password"
            autoComplete="current-password"
            autoFocus
            key={form.key("password")}
            {...form.getInputProps("password")}
          />
          <Group justify="flex-end" mt={6}>
            <Anchor component={Link} to="/reset-password" size="sm">
              Forgot your password?
            </Anchor>
          </Group>
        </div>
      </AuthForm>
    </InvitationFrame>
  );
}
