import { Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useConfig } from "../../api/config";
import { useInvite } from "../../api/team";
import type { Invitation, Role } from "../../api/types";
import { ConfirmAddressFirst } from "../../app/confirm-address-first";
import { ROLE_DESCRIPTIONS, ROLE_LABELS } from "../../app/session";
import { useIsUnconfirmed } from "../../app/use-is-unconfirmed";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { RoleChoices } from "../../components/role-choices";
import { SecretOnce } from "../../components/secret-once";
import { anyEmailError } from "../auth/rules";

/** The least powerful first. The dialog offers only roles that the server knows. */
const ROLES: Role[] = ["viewer", "support", "finance", "developer", "owner"];

interface InviteDialogProps {
  opened: boolean;
  onClose: () => void;
}

/** Asks for the e-mail and the role. Without mails, it then shows the link once. */
export function InviteDialog({ opened, onClose }: InviteDialogProps) {
  const isUnconfirmed = useIsUnconfirmed();
  const [invited, setInvited] = useState<Invitation | null>(null);
  /** With mails, nobody but the invited person receives the link. */
  function done(invitation: Invitation) {
    if (invitation.url) setInvited(invitation);
    else notifications.show({ message: `We sent the invitation to ${invitation.email}.` });
    onClose();
  }
  return (
    <>
      <Dialog opened={opened} onClose={onClose} title={<Text fw={600}>Invite a user</Text>}>
        {isUnconfirmed ? (
          <ConfirmAddressFirst act="invite others" />
        ) : (
          <InviteForm onCancel={onClose} onInvited={done} />
        )}
      </Dialog>
      <SecretOnce
        secret={invited?.url ?? null}
        title={`Invitation for ${invited?.email ?? ""}`}
        what="link"
        onClose={() => setInvited(null)}
      >
        This portal sends no e-mails. Send the link to this user yourself, and share it with nobody else: the
        first person who opens it gets access.
      </SecretOnce>
    </>
  );
}

interface InviteFormProps {
  onCancel: () => void;
  onInvited: (invitation: Invitation) => void;
}

function InviteForm({ onCancel, onInvited }: InviteFormProps) {
  const invite = useInvite();
  const { mail, roles } = useConfig();
  const form = useForm<{ email: string; role: Role }>({
    initialValues: { email: "", role: "viewer" },
    validate: { email: anyEmailError },
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
          label="E-mail"
          type="email"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps("email")}
        />
        <RoleChoices
          roles={ROLES.filter((role) => roles.includes(role))}
          labels={ROLE_LABELS}
          descriptions={ROLE_DESCRIPTIONS}
          {...form.getInputProps("role")}
        />
        <DialogActions isPending={invite.isPending} onCancel={onCancel}>
          {mail.enabled ? "Send invitation" : "Create invitation"}
        </DialogActions>
      </Stack>
    </form>
  );
}
