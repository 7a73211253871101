import { Alert, Anchor, Button, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconMail } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router-dom";
import { useConfig } from "../../api/config";
import { isCode } from "../../api/failure";
import { useRequestReset, useResetLink, useResetPassword } from "../../api/session";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { AuthForm } from "./auth-form";
import { AuthFrame } from "./auth-frame";
import { NewPasswordField } from "./new-password-field";
import { PasswordSaved } from "./password-saved";
import { emailError, newPasswordError } from "./rules";
import { useLinkToken } from "./use-link-token";

/** With the token of a link: sets a new password. Without one: requests a link. */
export function Component() {
  const token = useLinkToken();
  const [spentToken, setSpentToken] = useState("");
  if (token === spentToken) return <RequestLink />;
  return <CheckedLink key={token} token={token} onRequestNew={() => setSpentToken(token)} />;
}

const backToLogIn = (
  <Anchor component={Link} to="/log-in" size="sm">
    Back to login
  </Anchor>
);

function RequestLink() {
  const ask = useRequestReset();
  const { mail } = useConfig();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { email: "" },
    validate: { email: emailError },
  });
  if (!mail.enabled) {
    return (
      <AuthFrame title="Reset your password" footer={backToLogIn}>
        <Text>
          This portal sends no e-mails. Ask your delivery company for a reset link. Open it within an hour and
          choose a new password.
        </Text>
      </AuthFrame>
    );
  }
  if (ask.isSuccess) {
    return (
      <AuthFrame title="Check your inbox" footer={backToLogIn}>
        <Alert role="status" variant="light" color="gray" icon={<IconMail aria-hidden />}>
          {ask.data.message}
        </Alert>
        <Text c="dimmed" mt="md">
          The link works once, within one hour. No e-mail? Check your spam folder and the address that you
          entered.
        </Text>
      </AuthFrame>
    );
  }
  return (
    <AuthFrame
      title="Reset your password"
      description="We send you a link to choose a new password."
      footer={backToLogIn}
    >
      <AuthForm form={form} call={ask} onSubmit={(values) => ask.mutate(values)} act="Send link">
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          autoFocus
          key={form.key("email")}
          {...form.getInputProps("email")}
        />
      </AuthForm>
    </AuthFrame>
  );
}

interface LinkProps {
  token: string;
  onRequestNew: () => void;
}

/** Checks the link before the user chooses a password. */
function CheckedLink(props: LinkProps) {
  const link = useResetLink(props.token);
  if (link.data) return <SetPassword {...props} />;
  if (!link.error) {
    return (
      <AuthFrame title="Choose a new password" footer={backToLogIn}>
        <Loading what="Checking the link" height={160} />
      </AuthFrame>
    );
  }
  return (
    <AuthFrame title="This link cannot be used" footer={backToLogIn}>
      <Stack>
        {isCode(link.error, "reset_link_invalid") ? (
          <>
            <Text>{link.error.message}</Text>
            <Button onClick={props.onRequestNew} fullWidth>
              Request a new link
            </Button>
          </>
        ) : (
          <ErrorState
            error={link.error}
            title="The link could not be checked"
            onRetry={() => link.refetch()}
          />
        )}
      </Stack>
    </AuthFrame>
  );
}

function SetPassword({ token, onRequestNew }: LinkProps) {
  const reset = useResetPassword();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { password: "" },
    validate: { password: newPasswordError },
  });
  if (reset.isSuccess) {
    return (
      <PasswordSaved
        title="Password changed"
        message="All browsers are logged out of your account."
        logIn="/log-in"
      />
    );
  }
  const isSpent = isCode(reset.error, "reset_link_invalid");
  return (
    <AuthFrame title="Choose a new password" footer={backToLogIn}>
      <AuthForm
        form={form}
        call={reset}
        onSubmit={({ password }) => reset.mutate({ token, password })}
        act="Change password"
      >
        {isSpent && (
          <Button variant="default" onClick={onRequestNew} fullWidth>
            Request a new link
          </Button>
        )}
        <NewPasswordField
          label="New password"
          autoFocus
          key={form.key("password")}
          {...form.getInputProps("password")}
        />
      </AuthForm>
    </AuthFrame>
  );
}
