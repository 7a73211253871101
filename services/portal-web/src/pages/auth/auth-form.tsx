import { Button, Stack } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ReactNode } from "react";
import { FormErrors, focusFirstError } from "../../components/form-errors";

interface AuthFormProps<Values extends Record<string, unknown>> {
  form: UseFormReturnType<Values>;
  /** What it calls: whether that is under way, and how it was refused. */
  call: { error: unknown; isPending: boolean };
  onSubmit: (values: Values) => void;
  /** The act: “Log in”. */
  act: string;
  /** The fields. */
  children: ReactNode;
}

/** A form of a page without a shell, with one act as wide as it is. */
export function AuthForm<Values extends Record<string, unknown>>(props: AuthFormProps<Values>) {
  const { form, call, onSubmit, act, children } = props;
  return (
    <form onSubmit={form.onSubmit(onSubmit, focusFirstError(form))} noValidate>
      <Stack>
        <FormErrors error={call.error} form={form} />
        {children}
        <Button type="submit" loading={call.isPending} fullWidth>
          {act}
        </Button>
      </Stack>
    </form>
  );
}
