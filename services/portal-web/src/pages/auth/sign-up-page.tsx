import { Anchor, Button, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link, useLocation } from "react-router-dom";
import { isCode } from "../../api/failure";
import { useSignUp } from "../../api/session";
import { AuthForm } from "./auth-form";
import { AuthFrame } from "./auth-frame";
import { DocsLink } from "./docs-link";
import { NewPasswordField } from "./new-password-field";
import { emailError, newPasswordError, PASSWORD_MIN } from "./rules";

export function Component() {
  const signUp = useSignUp();
  const { search } = useLocation();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { businessName: "", email: "", password: "" },
    validate: {
      businessName: (name) => (name.trim() === "" ? "Enter the name of your business." : null),
      email: emailError,
      password: newPasswordError,
    },
  });
  return (
    <AuthFrame
      title="Create your account"
      description="Place test orders right away. They are free and get no driver."
      footer={
        <>
          Have an account?{" "}
          <Anchor component={Link} to={`/log-in${search}`} size="sm">
            Log in
          </Anchor>
          {" · "}
          <DocsLink />
        </>
      }
    >
      <AuthForm form={form} call={signUp} onSubmit={(values) => signUp.mutate(values)} act="Create account">
        {isCode(signUp.error, "email_taken") && (
          <Button component={Link} to={`/log-in${search}`} variant="default" fullWidth>
            Log in instead
          </Button>
        )}
        <TextInput
          label="Business name"
          autoComplete="organization"
          maxLength={120}
          autoFocus
          key={form.key("businessName")}
          {...form.getInputProps("businessName")}
        />
        <TextInput
          label="Work e-mail"
          type="email"
          autoComplete="username"
          key={form.key("email")}
          {...form.getInputProps("email")}
        />
        <NewPasswordField
          label="Password"
          description={`At least ${PASSWORD_MIN} characters. Several words are stronger than a few symbols.`}
          key={form.key("password")}
          {...form.getInputProps("password")}
        />
      </AuthForm>
    </AuthFrame>
  );
}
