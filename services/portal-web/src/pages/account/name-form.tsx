import { Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { CallButton } from "../../components/call-button";
import { FormErrors, focusFirstError } from "../../components/form-errors";

interface NameFormProps {
  label: string;
  description: string;
  autoComplete: string;
  /** The present name. */
  name: string;
  /** In characters. */
  max: number;
  /** Label of the submit button: “Save name”. */
  act: string;
  /** The field of the server's errors. */
  field: string;
  /** The error of an empty name. Without it, an empty name is allowed. */
  required?: string;
  save: (name: string) => Promise<unknown>;
}

/** One name with its own button. */
export function NameForm(props: NameFormProps) {
  const { name, max, field, required, save } = props;
  const form = useForm<Record<string, string>>({
    mode: "uncontrolled",
    initialValues: { [field]: name },
    validate: {
      [field]: (value) => {
        if (required && value.trim() === "") return required;
        return [...value].length > max ? `Use at most ${max} characters.` : null;
      },
    },
  });
  const change = useMutation({ mutationFn: save });
  const submit = form.onSubmit(
    (values) =>
      change.mutate((values[field] ?? "").trim(), {
        onSuccess: () => notifications.show({ message: "Saved." }),
      }),
    focusFirstError(form),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs" align="stretch">
        <FormErrors error={change.error} form={form} />
        <TextInput
          label={props.label}
          description={props.description}
          autoComplete={props.autoComplete}
          key={form.key(field)}
          {...form.getInputProps(field)}
        />
        <CallButton
          type="submit"
          size="xs"
          variant="default"
          loading={change.isPending}
          style={{ alignSelf: "flex-start" }}
        >
          {props.act}
        </CallButton>
      </Stack>
    </form>
  );
}
