import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconMail } from "@tabler/icons-react";
import { useConfig } from "../../api/config";
import { useChangeEmail, useEmail } from "../../api/profile";
import { useSession } from "../../app/session";
import { useIsUnconfirmed } from "../../app/use-is-unconfirmed";
import { CallButton } from "../../components/call-button";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { ErrorState } from "../../components/error-state";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { anyEmailError } from "../auth/rules";

/** The address with its state, and a change of it. */
export function EmailSettings() {
  const { email } = useSession();
  const { mail } = useConfig();
  const isUnconfirmed = useIsUnconfirmed();
  const { data, error, refetch } = useEmail();
  const [isChanging, { open, close }] = useDisclosure(false);
  return (
    <Stack gap="xs">
      <div>
        <Text fw={600} size="sm">
          E-mail address
        </Text>
        <Group gap="xs">
          <Text style={{ overflowWrap: "anywhere" }}>{email}</Text>
          {mail.enabled && (
            <StatusBadge
              tone={isUnconfirmed ? "warn" : "good"}
              label={isUnconfirmed ? "Not confirmed" : "Confirmed"}
              pill
            />
          )}
        </Group>
      </div>
      {error && (
        <ErrorState error={error} title="A requested change could not be loaded" onRetry={() => refetch()} />
      )}
      {data?.pendingEmail && <Pending email={data.pendingEmail} until={data.pendingUntil} present={email} />}
      <Button size="xs" variant="default" style={{ alignSelf: "flex-start" }} onClick={open}>
        Change e-mail address
      </Button>
      <Dialog opened={isChanging} onClose={close} title={<Text fw={600}>Change your e-mail address</Text>}>
        <ChangeForm onClose={close} />
      </Dialog>
    </Stack>
  );
}

/** A change that waits for its link. */
function Pending(props: { email: string; until: string | null | undefined; present: string }) {
  const change = useChangeEmail();
  const again = () =>
    change.mutate(props.email, { onSuccess: () => notifications.show({ message: "Sent again." }) });
  return (
    <Alert
      role="region"
      aria-label="Requested change"
      color="blue"
      variant="light"
      icon={<IconMail aria-hidden />}
    >
      <Stack gap="xs">
        <Text size="sm">
          If <strong style={{ overflowWrap: "anywhere" }}>{props.email}</strong> is not in use, we sent a link
          to it. Open it to make the change. It expires <Time at={props.until} relative />.
        </Text>
        {change.error && <ErrorState error={change.error} title="The action failed" />}
        <Group gap="xs">
          <CallButton size="xs" variant="default" loading={change.isPending} onClick={again}>
            Send again
          </CallButton>
          <CallButton
            size="xs"
            variant="default"
            loading={change.isPending}
            onClick={() => change.mutate(props.present)}
          >
            Cancel change
          </CallButton>
        </Group>
      </Stack>
    </Alert>
  );
}

function ChangeForm({ onClose }: { onClose: () => void }) {
  const change = useChangeEmail();
  const { mail } = useConfig();
  const { email: present } = useSession();
  const isPresent = (email: string) => email.trim().toLowerCase() === present.toLowerCase();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { email: "" },
    validate: {
      email: (email) => (isPresent(email) ? "This is your present address." : anyEmailError(email)),
    },
  });
  const submit = form.onSubmit(({ email }) => {
    const message = mail.enabled ? "Check the inbox of the new address." : "E-mail address changed.";
    change.mutate(email.trim(), {
      onSuccess: () => {
        notifications.show({ message });
        onClose();
      },
    });
  }, focusFirstError(form));
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">
          {mail.enabled
            ? "We send a link to the new address. When you open it, you log in with that address, and your other sessions end."
            : "You then log in with the new address, and your other sessions end."}
        </Text>
        <FormErrors error={change.error} form={form} />
        <TextInput
          label="New e-mail address"
          type="email"
          autoComplete="email"
          data-autofocus
          key={form.key("email")}
          {...form.getInputProps("email")}
        />
        <DialogActions isPending={change.isPending} onCancel={onClose}>
          {mail.enabled ? "Send link" : "Change address"}
        </DialogActions>
      </Stack>
    </form>
  );
}
