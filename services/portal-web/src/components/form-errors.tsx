import { Alert, List, Stack, Text } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { IconAlertCircle } from "@tabler/icons-react";
import { useEffect } from "react";
import { type ApiFailure, asFailure } from "../api/failure";
import type { FieldError } from "../api/types";
import { RequestId } from "./error-state";
import { fieldMessage, fieldOf, type Labels, labelOf, readableMessage } from "./field-message";

interface FormErrorsProps<Values extends Record<string, unknown>> {
  error: unknown;
  form: UseFormReturnType<Values>;
}

/**
 * The server's errors: field errors appear at their fields, with the focus on the first one; all others appear here. Put
 * it at the top of a form.
 */
export function FormErrors<Values extends Record<string, unknown>>({ error, form }: FormErrorsProps<Values>) {
  useFieldErrors(error, form);
  if (!error) return null;
  const failure = asFailure(error);
  const elsewhere = failure.fieldErrors.filter((fieldError) => !isField(form, fieldOf(fieldError)));
  if (failure.fieldErrors.length > 0 && elsewhere.length === 0) return null;
  const told = (fieldError: FieldError) => readableMessage(fieldError, labelsOf(form));
  return (
    <Alert role="alert" color="red" variant="light" icon={<IconAlertCircle aria-hidden />}>
      <Stack gap={6}>
        <Text>{summary(failure, elsewhere.map(told))}</Text>
        {elsewhere.length > 1 && (
          <List size="sm">
            {elsewhere.map((fieldError) => (
              <List.Item key={`${fieldError.field} ${fieldError.code}`}>{told(fieldError)}</List.Item>
            ))}
          </List>
        )}
        {failure.requestId && failure.status >= 500 && <RequestId id={failure.requestId} />}
      </Stack>
    </Alert>
  );
}

/** The answer's own message begins with the first error and counts the others, which are listed here. */
function summary({ message }: ApiFailure, told: string[]): string {
  return told.length > 1 ? "Correct these errors:" : (told[0] ?? message);
}

function useFieldErrors<Values extends Record<string, unknown>>(
  error: unknown,
  form: UseFormReturnType<Values>,
) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per error; each render creates new form functions
  useEffect(() => {
    if (!error) return;
    const fieldErrors = asFailure(error).fieldErrors.filter((fieldError) =>
      isField(form, fieldOf(fieldError)),
    );
    if (fieldErrors.length === 0) return;
    const [labels, fields] = [labelsOf(form), new Set(fieldErrors.map(fieldOf))];
    const errorsOf = (field: string) => fieldErrors.filter((fieldError) => fieldOf(fieldError) === field);
    form.setErrors(
      Object.fromEntries([...fields].map((field) => [field, fieldMessage(errorsOf(field), labels)])),
    );
    focusField(form, fieldErrors[0] && fieldOf(fieldErrors[0]));
  }, [error]);
}

/** For `form.onSubmit(submit, focusFirstError(form))`: focuses the first invalid field. */
export function focusFirstError<Values extends Record<string, unknown>>(form: UseFormReturnType<Values>) {
  return (errors: Record<string, unknown>) => focusField(form, Object.keys(errors)[0]);
}

function focusField<Values extends Record<string, unknown>>(form: UseFormReturnType<Values>, field?: string) {
  if (field) form.getInputNode(field)?.focus();
}

/** What the page calls the fields of the form. */
function labelsOf<Values extends Record<string, unknown>>(form: UseFormReturnType<Values>): Labels {
  const found = Object.keys(form.getValues()).map((field) => [field, labelOf(form.getInputNode(field))]);
  return Object.fromEntries(found.filter(([, label]) => label));
}

function isField<Values extends Record<string, unknown>>(
  form: UseFormReturnType<Values>,
  field: string,
): boolean {
  return field in form.getValues();
}
