import { Anchor, Button, Group, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link, useLocation } from "react-router-dom";
import { lastSsoBusiness } from "../../api/business-sso";
import { asFailure, isCode } from "../../api/failure";
import { isChallenge, useLogIn, useSecondStep } from "../../api/session";
import { PasswordField } from "../../components/password-field";
import { AuthForm } from "./auth-form";
import { AuthFrame } from "./auth-frame";
import { DocsLink } from "./docs-link";
import { emailError } from "./rules";
import { SecondStep } from "./second-step";

const REQUIRED = "single_sign_on_required";

export function Component() {
  const logIn = useLogIn();
  const secondStep = useSecondStep();
  const { search } = useLocation();
  const ssoPath = businessLogIn(logIn.error ?? secondStep.error) ?? ofBrowser();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { email: "", password: "" },
    validate: {
      email: emailError,
      password: (password) => (password === "" ? "Enter your password." : null),
    },
  });
  const isRequired = isCode(logIn.error, REQUIRED);
  if (isChallenge(logIn.data)) {
    return (
      <SecondStep
        scope="portal"
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
      title="Log in"
      footer={
        <>
          New here?{" "}
          <Anchor component={Link} to={`/sign-up${search}`} size="sm">
            Create an account
          </Anchor>
          {" · "}
          <DocsLink />
        </>
      }
    >
      {ssoPath && (
        <Button
          component={Link}
          to={`${ssoPath}${search}`}
          variant={isRequired ? "filled" : "default"}
          fullWidth
          mb="md"
        >
          Log in with single sign-on
        </Button>
      )}
      <AuthForm form={form} call={logIn} onSubmit={(values) => logIn.mutate(values)} act="Log in">
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          autoFocus
          key={form.key("email")}
          {...form.getInputProps("email")}
        />
        <div>
          <PasswordField
            label="Password"
            autoComplete="current-password"
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
    </AuthFrame>
  );
}

/** The log-in page of the business that refuses the password. */
function businessLogIn(error: unknown): string | null {
  if (!isCode(error, REQUIRED)) return null;
  const url = asFailure(error).body.logInUrl;
  return typeof url === "string" ? new URL(url).pathname : null;
}

/** Of the business that was used last in this browser. */
function ofBrowser(): string | null {
  const business = lastSsoBusiness();
  return business && `/log-in/${business}`;
}
