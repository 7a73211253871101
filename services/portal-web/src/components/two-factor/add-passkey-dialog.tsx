import { Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useAddPasskey } from "../../api/passkeys";
import type { AccountScope } from "../../api/recent-authentication";
import { Dialog } from "../dialog";
import { DialogActions } from "../dialog-actions";
import { FormErrors, focusFirstError } from "../form-errors";

interface AddPasskeyDialogProps {
  scope: AccountScope;
  onClose: () => void;
}

const NAME_CHARS_MAX = 60;

/** Asks for a name, then the browser asks for the passkey. */
export function AddPasskeyDialog({ scope, onClose }: AddPasskeyDialogProps) {
  const add = useAddPasskey(scope);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { name: "" },
    validate: { name: (name) => (name.trim() === "" ? "Enter a name." : null) },
  });
  const submit = form.onSubmit(({ name }) => {
    add.mutate(name.trim(), {
      onSuccess: () => {
        onClose();
        notifications.show({ message: "The passkey is added." });
      },
    });
  }, focusFirstError(form));
  return (
    <Dialog opened onClose={onClose} title={<Text fw={600}>Add a passkey</Text>}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Text>
            Give it a name. Then your browser asks for the device or password manager that stores it.
          </Text>
          <FormErrors error={add.error} form={form} />
          <TextInput
            label="Name"
            description="Such as “Work laptop” or “Security key”."
            maxLength={NAME_CHARS_MAX}
            autoComplete="off"
            data-autofocus
            key={form.key("name")}
            {...form.getInputProps("name")}
          />
          <DialogActions isPending={add.isPending} onCancel={onClose}>
            Continue
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
}
