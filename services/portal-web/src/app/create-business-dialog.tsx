import { Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useCreateBusiness } from "../api/session";
import { Dialog } from "../components/dialog";
import { DialogActions } from "../components/dialog-actions";
import { FormErrors, focusFirstError } from "../components/form-errors";

interface CreateBusinessDialogProps {
  opened: boolean;
  onClose: () => void;
}

/** Creates a further business of the same person. */
export function CreateBusinessDialog({ opened, onClose }: CreateBusinessDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={<Text fw={600}>Add a business</Text>}>
      <CreateBusinessForm onCancel={onClose} />
    </Dialog>
  );
}

function CreateBusinessForm({ onCancel }: { onCancel: () => void }) {
  const create = useCreateBusiness();
  const form = useForm({
    initialValues: { businessName: "" },
    validate: { businessName: (name) => (name.trim() === "" ? "Enter the name of the business." : null) },
  });
  const submit = form.onSubmit((values) => create.mutate(values), focusFirstError(form));
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm" c="dimmed">
          You become its owner. It has its own orders, keys, webhooks, wallet and team, and goes live after
          the operator has approved it. To join an existing business, ask one of its owners for an invitation.
        </Text>
        <FormErrors error={create.error} form={form} />
        <TextInput
          label="Business name"
          autoComplete="organization"
          data-autofocus
          {...form.getInputProps("businessName")}
        />
        <DialogActions isPending={create.isPending || create.isSuccess} onCancel={onCancel}>
          Add business
        </DialogActions>
      </Stack>
    </form>
  );
}
