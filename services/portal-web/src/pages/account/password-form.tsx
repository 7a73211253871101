import { Group, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useEffect } from "react";
import { useChangePassword } from "../../api/account";
import { isCode } from "../../api/failure";
import type { AccountScope } from "../../api/recent-authentication";
import { CallButton } from "../../components/call-button";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { PasswordField } from "../../components/password-field";
import { Section } from "../../components/section";
import { NewPasswordField } from "../auth/new-password-field";
import { newPasswordError } from "../auth/rules";

interface PasswordFormProps {
  scope: AccountScope;
  /** Of the own account, for password managers. */
  email: string;
}

export function PasswordForm({ scope, email }: PasswordFormProps) {
  const change = useChangePassword(scope);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { currentPassword: "", newPassword: "" },
    validate: {
      currentPassword: (password) => (password === "" ? "Enter your current password." : null),
      newPassword: newPasswordError,
    },
  });
  const isPasswordWrong = isCode(change.error, "password_wrong");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per error; each render creates new form functions
  useEffect(() => {
    if (!isPasswordWrong) return;
    form.setFieldError("currentPassword", change.error?.message);
    form.getInputNode("currentPassword")?.focus();
  }, [isPasswordWrong, change.error]);

  function done() {
    form.reset();
    notifications.show({ message: "Password changed. All other browsers are logged out." });
  }

  const submit = form.onSubmit((values) => change.mutate(values, { onSuccess: done }), focusFirstError(form));
  return (
    <Section title="Password" description="A new password logs out all other browsers.">
      <form onSubmit={submit} noValidate>
        <Stack maw={420}>
          <FormErrors error={isPasswordWrong ? null : change.error} form={form} />
          <input type="hidden" autoComplete="username" value={email} readOnly />
          <PasswordField
            label="Current password"
            autoComplete="current-password"
            key={form.key("currentPassword")}
            {...form.getInputProps("currentPassword")}
          />
          <NewPasswordField
            label="New password"
            key={form.key("newPassword")}
            {...form.getInputProps("newPassword")}
          />
          <Group>
            <CallButton type="submit" loading={change.isPending}>
              Change password
            </CallButton>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
