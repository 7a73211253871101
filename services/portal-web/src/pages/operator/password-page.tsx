import { Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { asFailure } from "../../api/failure";
import { useSetStaffPassword, useStaffOfLink } from "../../api/operator-access";
import { Loading } from "../../components/loading";
import { AuthForm } from "../auth/auth-form";
import { AuthFrame } from "../auth/auth-frame";
import { NewPasswordField } from "../auth/new-password-field";
import { PasswordSaved } from "../auth/password-saved";
import { newPasswordError } from "../auth/rules";
import { useLinkToken } from "../auth/use-link-token";
import { OPERATOR_ROLE_LABELS } from "./operator-roles";

/** A person of the staff sets their password with a link. */
export function Component() {
  const token = useLinkToken();
  const { data: person, error } = useStaffOfLink(token);
  const set = useSetStaffPassword();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { password: "" },
    validate: { password: newPasswordError },
  });
  if (set.isSuccess) {
    return (
      <PasswordSaved
        title="Password set"
        message="All your sessions of the console have ended."
        logIn="/operator"
      />
    );
  }
  if (token === "" || error) {
    return (
      <AuthFrame title="This link cannot be used">
        <Text>{error ? asFailure(error).message : "The link is incomplete."}</Text>
      </AuthFrame>
    );
  }
  if (!person) {
    return (
      <AuthFrame title="Choose a password">
        <Loading what="Checking the link" height={160} />
      </AuthFrame>
    );
  }
  return (
    <AuthFrame
      title="Choose a password"
      description={`For the operator console, as ${OPERATOR_ROLE_LABELS[person.role].toLowerCase()}.`}
    >
      <AuthForm
        form={form}
        call={set}
        onSubmit={({ password }) => set.mutate({ token, password })}
        act="Set password"
      >
        <Text>
          {person.name}: <strong>{person.email}</strong>
        </Text>
        <input type="hidden" autoComplete="username" value={person.email} readOnly />
        <NewPasswordField
          label="Choose a password"
          autoFocus
          key={form.key("password")}
          {...form.getInputProps("password")}
        />
      </AuthForm>
    </AuthFrame>
  );
}
