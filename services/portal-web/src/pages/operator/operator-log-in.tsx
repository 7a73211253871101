import { Anchor, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { Link } from "react-router-dom";
import { useConfig } from "../../api/config";
import { useOperatorLogIn, useOperatorSecondStep } from "../../api/operator-session";
import { isChallenge } from "../../api/session";
import { PasswordField } from "../../components/password-field";
import { AuthForm } from "../auth/auth-form";
import { AuthFrame } from "../auth/auth-frame";
import { emailError } from "../auth/rules";
import { SecondStep } from "../auth/second-step";
import { SsoButton } from "./sso-button";

/** The staff log in with their own accounts. Of the tokens, only that of the installation opens a session. */
export function OperatorLogIn() {
  const [usesToken, setUsesToken] = useState(false);
  const logIn = useOperatorLogIn();
  const secondStep = useOperatorSecondStep();
  const { singleSignOn } = useConfig();
  const hasPasswords = singleSignOn?.passwords ?? true;
  if (isChallenge(logIn.data)) {
    return (
      <SecondStep
        scope="operator"
        challenge={logIn.data}
        call={secondStep}
        onBack={() => {
          secondStep.reset();
          logIn.reset();
        }}
      />
    );
  }
  return (
    <AuthFrame
      title="Operator console"
      description="For the delivery company: businesses, their wallets, and all orders."
      footer={
        <>
          <Anchor
            component="button"
            type="button"
            size="sm"
            onClick={() => {
              logIn.reset();
              setUsesToken(!usesToken);
            }}
          >
            {usesToken ? "Log in with your account" : "Log in with the installation token"}
          </Anchor>
          <PortalLink />
        </>
      }
    >
      {usesToken ? (
        <TokenForm logIn={logIn} />
      ) : (
        <>
          <SsoButton hasForm={hasPasswords} />
          {hasPasswords && <AccountForm logIn={logIn} />}
        </>
      )}
    </AuthFrame>
  );
}

/** At the console's own address, the portal is at another one. */
function PortalLink() {
  const { parts, portalUrl } = useConfig();
  const isHere = parts.includes("portal");
  if (!isHere && !portalUrl) return null;
  return (
    <>
      {" · "}
      {isHere ? (
        <Anchor component={Link} to="/log-in" size="sm">
          Go to the portal
        </Anchor>
      ) : (
        <Anchor href={`${portalUrl}/log-in`} size="sm">
          Go to the portal
        </Anchor>
      )}
    </>
  );
}

type LogIn = ReturnType<typeof useOperatorLogIn>;

function AccountForm({ logIn }: { logIn: LogIn }) {
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { email: "", password: "" },
    validate: {
      email: emailError,
      password: (password) => (password === "" ? "Enter your password." : null),
    },
  });
  return (
    <AuthForm form={form} call={logIn} onSubmit={(values) => logIn.mutate(values)} act="Log in">
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="username"
        autoFocus
        key={form.key("email")}
        {...form.getInputProps("email")}
      />
      <PasswordField
        label="Password"
        description="Lost it? Ask an administrator of your company for a link."
        autoComplete="current-password"
        key={form.key("password")}
        {...form.getInputProps("password")}
      />
    </AuthForm>
  );
}

function TokenForm({ logIn }: { logIn: LogIn }) {
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { token: "" },
    validate: { token: (token) => (token.trim() === "" ? "Enter the installation token." : null) },
  });
  const submit = ({ token }: { token: string }) => logIn.mutate({ token: token.trim() });
  return (
    <AuthForm form={form} call={logIn} onSubmit={submit} act="Log in">
      <PasswordField
        label="Installation token"
        description="From the settings of this installation. Tokens created in the console are for programs, and do not open it."
        autoComplete="current-password"
        autoFocus
        key={form.key("token")}
        {...form.getInputProps("token")}
      />
    </AuthForm>
  );
}
