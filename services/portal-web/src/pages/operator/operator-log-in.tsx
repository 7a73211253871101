import { Anchor, Button, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link } from "react-router-dom";
import { useOperatorLogIn } from "../../api/operator-session";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { PasswordField } from "../../components/password-field";
import { AuthFrame } from "../auth/auth-frame";

/** The operator has one token, and no accounts. */
export function OperatorLogIn() {
  const logIn = useOperatorLogIn();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { token: "" },
    validate: { token: (token) => (token.trim() === "" ? "Enter the operator’s token." : null) },
  });
  const submit = form.onSubmit(({ token }) => logIn.mutate(token.trim()), focusFirstError(form));
  return (
    <AuthFrame
      title="Operator console"
      description="For the delivery company: businesses, their money, and any order."
      footer={
        <>
          Here for your business?{" "}
          <Anchor component={Link} to="/log-in" size="sm">
            Go to the portal
          </Anchor>
        </>
      }
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormErrors error={logIn.error} form={form} />
          <PasswordField
            label="Operator token"
            description="From the settings of this installation. You stay logged in for 12 hours."
            autoComplete="current-password"
            autoFocus
            key={form.key("token")}
            {...form.getInputProps("token")}
          />
          <Button type="submit" loading={logIn.isPending} fullWidth>
            Log in
          </Button>
        </Stack>
      </form>
    </AuthFrame>
  );
}
