import { Stack } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ReactNode } from "react";
import { CallButton } from "../../components/call-button";
import { FormErrors, focusFirstError } from "../../components/form-errors";

interface AuthFormProps<Values extends Record<string, unknown>> {
  form: UseFormReturnType<Values>;
  /** The state of the form's request. */
  call: { error: unknown; isPending: boolean };
  onSubmit: (values: Values) => void;
  /** Label of the submit button: “Log in”. */
  act: string;
  /** Another button of the form is the first choice. */
  isSecondary?: boolean;
  /** The fields. */
  children: ReactNode;
}

/** A form on the pages for guests, with a full-width submit button. */
export function AuthForm<Values extends Record<string, unknown>>(props: AuthFormProps<Values>) {
  const { form, call, onSubmit, act, isSecondary = false, children } = props;
  return (
    <form onSubmit={form.onSubmit(onSubmit, focusFirstError(form))} noValidate>
      <Stack>
        <FormErrors error={call.error} form={form} />
        {children}
        <CallButton
          type="submit"
          variant={isSecondary ? "default" : "filled"}
          loading={call.isPending}
          fullWidth
        >
          {act}
        </CallButton>
      </Stack>
    </form>
  );
}
