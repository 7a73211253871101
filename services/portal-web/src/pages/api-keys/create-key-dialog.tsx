import { Alert, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconLock } from "@tabler/icons-react";
import { useState } from "react";
import { useCreateApiKey } from "../../api/api-keys";
import { useStatus } from "../../api/status";
import type { CreatedApiKey, Mode } from "../../api/types";
import { InlineCode } from "../../components/code-block";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { SecretOnce } from "../../components/secret-once";
import { asNewKey, KeyOptions, type NewKeyForm, type NewKeyValues, newKeyValues } from "./key-options";
import { OpenItems } from "./open-items";

interface CreateKeyDialogProps {
  opened: boolean;
  onClose: () => void;
  /** The preselected mode. */
  mode?: Mode;
  /** Receives the full key after it was shown. */
  onCreated?: (key: CreatedApiKey) => void;
}

/** Asks for mode and name, creates the key, and shows it once. */
export function CreateKeyDialog({ opened, onClose, mode = "test", onCreated }: CreateKeyDialogProps) {
  const [created, setCreated] = useState<CreatedApiKey | null>(null);

  function finish() {
    if (created) onCreated?.(created);
    setCreated(null);
  }

  return (
    <>
      <Dialog opened={opened} onClose={onClose} title={<Text fw={600}>Create an API key</Text>}>
        <KeyForm
          mode={mode}
          onCancel={onClose}
          onCreated={(key) => {
            setCreated(key);
            onClose();
          }}
        />
      </Dialog>
      <SecretOnce
        secret={created?.key ?? null}
        title={created?.mode === "live" ? "Your Live key" : "Your Test key"}
        what="key"
        onClose={finish}
      >
        Store it in your backend’s configuration. Never put it into a web page, an app, a repository or a log:
        anyone who has it can place orders in your name
        {created?.mode === "live" ? " and spend your wallet" : ""}.
      </SecretOnce>
    </>
  );
}

interface KeyFormProps {
  mode: Mode;
  onCancel: () => void;
  onCreated: (key: CreatedApiKey) => void;
}

function KeyForm({ mode, onCancel, onCreated }: KeyFormProps) {
  const create = useCreateApiKey();
  const status = useStatus();
  const goLive = status.data?.goLive;
  const form = useForm<NewKeyValues>({
    initialValues: newKeyValues(mode),
    validate: {
      name: (name) => (name.trim() === "" ? "Enter a name for the key." : null),
      scopes: (scopes) => (scopes.length === 0 ? "Choose at least one." : null),
    },
  }) as NewKeyForm;
  const isLocked = form.values.mode === "live" && goLive?.unlocked === false;
  const submit = form.onSubmit(
    (values) => create.mutate(asNewKey(values), { onSuccess: onCreated }),
    focusFirstError(form),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormErrors error={create.error} form={form} />
        <SegmentedControl
          fullWidth
          aria-label="Mode"
          data={[
            { value: "test", label: "Test" },
            { value: "live", label: "Live" },
          ]}
          {...form.getInputProps("mode")}
        />
        <Text c="dimmed">
          {form.values.mode === "test"
            ? "For development: nothing is delivered and nothing is charged."
            : "For real deliveries, paid from your wallet."}
        </Text>
        {isLocked && goLive ? (
          <Alert
            role="note"
            variant="light"
            color="gray"
            icon={<IconLock aria-hidden />}
            title="Live keys are locked"
          >
            {status.data?.closing ? (
              <Text>The business is being closed, and gets no new keys.</Text>
            ) : (
              <>
                <Text mb={6}>Complete these items first:</Text>
                <OpenItems items={goLive.items} onFollow={onCancel} />
              </>
            )}
          </Alert>
        ) : (
          <>
            <TextInput
              label="Name"
              description={
                <>
                  Where it is used, such as <InlineCode>shop backend</InlineCode>.
                </>
              }
              maxLength={80}
              data-autofocus
              {...form.getInputProps("name")}
            />
            <KeyOptions form={form} />
          </>
        )}
        <DialogActions isPending={create.isPending} disabled={isLocked} onCancel={onCancel}>
          Create key
        </DialogActions>
      </Stack>
    </form>
  );
}
