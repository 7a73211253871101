import { Button, Checkbox, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { type Endpoint, useRotateSecret } from "../../api/webhooks";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { ErrorState } from "../../components/error-state";
import { SecretOnce } from "../../components/secret-once";
import { Section } from "../../components/section";

const GRACES = [
  { value: "86400", label: "24 hours" },
  { value: "3600", label: "1 hour" },
  { value: "259200", label: "3 days" },
  { value: "604800", label: "7 days" },
  { value: "0", label: "Not at all: it has leaked" },
];

/** Adds a new secret next to the current one, until it is activated or the grace period ends. */
export function RotateSecret({ endpoint }: { endpoint: Endpoint }) {
  const [isAsking, { open, close }] = useDisclosure(false);
  const [rotated, setRotated] = useState<{ secret: string; atOnce: boolean } | null>(null);
  return (
    <Section title="Signing secret">
      <Group justify="space-between">
        <Text c="dimmed" style={{ flex: "1 1 18rem" }}>
          Rotate it regularly, and whenever it may have leaked. Webhooks are signed with both secrets until
          you activate the new one, so none is lost.
        </Text>
        <Button variant="default" size="xs" onClick={open}>
          Rotate secret
        </Button>
      </Group>
      <Dialog opened={isAsking} onClose={close} title={<Text fw={600}>Rotate the signing secret</Text>}>
        <RotateForm
          endpoint={endpoint}
          onCancel={close}
          onRotated={(secret, atOnce) => {
            setRotated({ secret, atOnce });
            close();
          }}
        />
      </Dialog>
      <SecretOnce
        secret={rotated?.secret ?? null}
        title="Your new signing secret"
        what="secret"
        onClose={() => setRotated(null)}
      >
        {rotated?.atOnce
          ? "Webhooks are now signed with this secret only. Install it on your receivers right away."
          : "Install it on all your receivers. Then activate it on this page."}
      </SecretOnce>
    </Section>
  );
}

interface RotateFormProps {
  endpoint: Endpoint;
  onCancel: () => void;
  onRotated: (secret: string, atOnce: boolean) => void;
}

function RotateForm({ endpoint, onCancel, onRotated }: RotateFormProps) {
  const rotate = useRotateSecret(endpoint.id);
  const [grace, setGrace] = useState("86400");
  const [replaces, setReplaces] = useState(false);
  const atOnce = grace === "0";
  const needsConsent = Boolean(endpoint.nextSecret) && !atOnce;

  function submit() {
    const body = { graceSeconds: Number(grace), ...(needsConsent ? { replaceStaged: replaces } : {}) };
    rotate.mutate(body, { onSuccess: ({ secret }) => onRotated(secret, atOnce) });
  }

  return (
    <Stack>
      {rotate.error && <ErrorState error={rotate.error} title="The secret was not rotated" />}
      <NativeSelect
        label="Keep signing with the old secret for"
        description="It ends earlier if you activate the new secret."
        data={GRACES}
        value={grace}
        onChange={(event) => setGrace(event.currentTarget.value)}
      />
      {needsConsent && (
        <Checkbox
          checked={replaces}
          onChange={(event) => setReplaces(event.currentTarget.checked)}
          label="Replace the secret that is already staged"
          description="Receivers with the staged secret must be updated again."
        />
      )}
      <DialogActions
        isPending={rotate.isPending}
        disabled={needsConsent && !replaces}
        onCancel={onCancel}
        onAct={submit}
      >
        Rotate secret
      </DialogActions>
    </Stack>
  );
}
