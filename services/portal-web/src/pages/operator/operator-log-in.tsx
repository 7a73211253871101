import { Anchor } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link } from "react-router-dom";
import { useOperatorLogIn } from "../../api/operator-session";
import { PasswordField } from "../../components/password-field";
import { AuthForm } from "../auth/auth-form";
import { AuthFrame } from "../auth/auth-frame";

/** The operator logs in with one token. There are no operator accounts. */
export function OperatorLogIn() {
  const logIn = useOperatorLogIn();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { token: "" },
    validate: { token: (token) => (token.trim() === "" ? "Enter the operator token." : null) },
  });
  return (
    <AuthFrame
      title="Operator console"
      description="For the delivery company: businesses, their wallets, and all orders."
      footer={
        <>
          Here for your business?{" "}
          <Anchor component={Link} to="/log-in" size="sm">
            Go to the portal
          </Anchor>
        </>
      }
    >
      <AuthForm form={form} call={logIn} onSubmit={({ token }) => logIn.mutate(token.trim())} act="Log in">
        <PasswordField
          label="Operator token"
          description="The token is in the settings of this installation. The session lasts 12 hours."
          autoComplete="current-password"
          autoFocus
          key={form.key("token")}
          {...form.getInputProps("token")}
        />
      </AuthForm>
    </AuthFrame>
  );
}
