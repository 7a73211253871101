import { Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useRotateApiKey } from "../../api/api-keys";
import type { ApiKey } from "../../api/types";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { ErrorState } from "../../components/error-state";
import { LocalTimeInput } from "../../components/local-time-input";
import { SecretOnce } from "../../components/secret-once";
import { maskedKey } from "./key-state";

const MINUTE = 60;
const HOUR = 3_600;
const GRACES = [
  {
    seconds: 0,
    label: "Immediately",
    description: "For a leaked key. Requests with it are rejected from now on.",
  },
  { seconds: 15 * MINUTE, label: "After 15 minutes" },
  { seconds: HOUR, label: "After 1 hour" },
  { seconds: 6 * HOUR, label: "After 6 hours" },
  {
    seconds: 24 * HOUR,
    label: "After 24 hours",
    description: "Gives you time to deploy the new key.",
  },
];
const USUAL_GRACE = 24 * HOUR;

interface RotateKeyDialogProps {
  apiKey: ApiKey;
  opened: boolean;
  onClose: () => void;
  /** The dialog was cancelled, or the new key is stored. */
  onEnd?: () => void;
}

/**
 * Replaces a key; the old one works until its grace period ends. It is rendered outside the table's rows, which each
 * refetch replaces: the new key must stay on the page until it is stored.
 */
export function RotateKeyDialog({ apiKey, opened, onClose, onEnd }: RotateKeyDialogProps) {
  const [rotated, setRotated] = useState<{ from: ApiKey; secret: string } | null>(null);
  const cancel = () => {
    onClose();
    onEnd?.();
  };
  return (
    <>
      <Dialog opened={opened} onClose={cancel} title={<Text fw={600}>Rotate “{apiKey.name}”</Text>}>
        <RotateForm
          apiKey={apiKey}
          onCancel={cancel}
          onRotated={(secret) => {
            setRotated({ from: apiKey, secret });
            onClose();
          }}
        />
      </Dialog>
      <SecretOnce
        secret={rotated?.secret ?? null}
        title="Your new key"
        what="key"
        onClose={() => {
          setRotated(null);
          onEnd?.();
        }}
      >
        Replace {rotated && maskedKey(rotated.from)} with it in your backend’s configuration.
      </SecretOnce>
    </>
  );
}

interface RotateFormProps {
  apiKey: ApiKey;
  onCancel: () => void;
  onRotated: (secret: string) => void;
}

function RotateForm({ apiKey, onCancel, onRotated }: RotateFormProps) {
  const rotate = useRotateApiKey();
  const [graceSeconds, setGraceSeconds] = useState(USUAL_GRACE);
  const [expiresAt, setExpiresAt] = useState(apiKey.expiresAt ?? undefined);
  const change = expiresAt && expiresAt !== apiKey.expiresAt ? { expiresAt } : {};
  const act = () =>
    rotate.mutate(
      { id: apiKey.id, graceSeconds, ...change },
      { onSuccess: (created) => onRotated(created.key) },
    );
  return (
    <Stack>
      <Text>
        A new key replaces {maskedKey(apiKey)}, with the same access. Both work until the old one expires.
      </Text>
      {rotate.error ? <ErrorState error={rotate.error} title="The key was not rotated" /> : null}
      <Radio.Group
        label="When does the old key expire?"
        value={String(graceSeconds)}
        onChange={(value) => setGraceSeconds(Number(value))}
      >
        <Stack gap="xs" mt="xs">
          {GRACES.map((grace) => (
            <Radio
              key={grace.seconds}
              value={String(grace.seconds)}
              label={grace.label}
              description={grace.description}
            />
          ))}
        </Stack>
      </Radio.Group>
      {apiKey.expiresAt && (
        <LocalTimeInput
          label="When does the new key expire?"
          description="Leave it empty to keep the time of the old key."
          value={expiresAt}
          onChange={setExpiresAt}
        />
      )}
      <DialogActions isPending={rotate.isPending} onCancel={onCancel} onAct={act}>
        Rotate key
      </DialogActions>
    </Stack>
  );
}
