import { Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useInviteStaff } from "../../api/operator-access";
import { useOperatorSession } from "../../api/operator-session";
import type { OperatorRole, StaffLink } from "../../api/types";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { RoleChoices } from "../../components/role-choices";
import { anyEmailError } from "../auth/rules";
import { OPERATOR_ROLE_DESCRIPTIONS, OPERATOR_ROLE_LABELS, OPERATOR_ROLES } from "./operator-roles";

export const NAME_CHARS_MAX = 120;

interface InviteStaffDialogProps {
  opened: boolean;
  onClose: () => void;
  onInvited: (link: StaffLink) => void;
}

/** Asks for name, e-mail and role of a new person. */
export function InviteStaffDialog({ opened, onClose, onInvited }: InviteStaffDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={<Text fw={600}>Invite a person</Text>}>
      <InviteForm
        onCancel={onClose}
        onInvited={(link) => {
          onInvited(link);
          onClose();
        }}
      />
    </Dialog>
  );
}

interface InviteFormProps {
  onCancel: () => void;
  onInvited: (link: StaffLink) => void;
}

function InviteForm({ onCancel, onInvited }: InviteFormProps) {
  const invite = useInviteStaff();
  // The installation token approves nothing.
  const isPerson = useOperatorSession().data?.type === "person";
  const form = useForm<{ name: string; email: string; role: OperatorRole }>({
    initialValues: { name: "", email: "", role: "viewer" },
    validate: {
      name: (name) => (name.trim() === "" ? "Enter the person’s name." : null),
      email: anyEmailError,
    },
  });
  const submit = form.onSubmit(
    (values) => invite.mutate(values, { onSuccess: onInvited }),
    focusFirstError(form),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormErrors error={invite.error} form={form} />
        <TextInput
          label="Name"
          autoComplete="off"
          maxLength={NAME_CHARS_MAX}
          data-autofocus
          {...form.getInputProps("name")}
        />
        <TextInput label="E-mail" type="email" autoComplete="off" {...form.getInputProps("email")} />
        <RoleChoices
          roles={OPERATOR_ROLES}
          labels={OPERATOR_ROLE_LABELS}
          descriptions={OPERATOR_ROLE_DESCRIPTIONS}
          {...form.getInputProps("role")}
        />
        {isPerson && (
          <Text c="dimmed">For 7 days, you and this person cannot approve each other’s requests.</Text>
        )}
        <DialogActions isPending={invite.isPending} onCancel={onCancel}>
          Create link
        </DialogActions>
      </Stack>
    </form>
  );
}
