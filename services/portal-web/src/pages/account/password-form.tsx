import { Button, Group, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useEffect } from "react";
import { useChangePassword } from "../../api/account";
import { isCode } from "../../api/failure";
import { useSession } from "../../app/session";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { PasswordField } from "../../components/password-field";
import { Section } from "../../components/section";
import { NewPasswordField } from "../auth/new-password-field";
import { newPasswordFault } from "../auth/rules";

export function PasswordForm() {
  const change = useChangePassword();
  const session = useSession();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { currentPassword: "", newPassword: "" },
    validate: {
      currentPassword: (password) => (password === "" ? "Enter the password that you have now." : null),
      newPassword: newPasswordFault,
    },
  });
  const isWrong = isCode(change.error, "password_wrong");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per refusal; the form's functions are new each time
  useEffect(() => {
    if (!isWrong) return;
    form.setFieldError("currentPassword", change.error?.message);
    form.getInputNode("currentPassword")?.focus();
  }, [isWrong, change.error]);

  function done() {
    form.reset();
    notifications.show({ message: "Your password is changed. Other browsers are logged out." });
  }

  const submit = form.onSubmit((values) => change.mutate(values, { onSuccess: done }), focusFirstError(form));
  return (
    <Section title="Password" description="Changing it logs out every other browser.">
      <form onSubmit={submit} noValidate>
        <Stack maw={420}>
          <FormErrors error={isWrong ? null : change.error} form={form} />
          <input type="hidden" autoComplete="username" value={session.email} readOnly />
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
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
