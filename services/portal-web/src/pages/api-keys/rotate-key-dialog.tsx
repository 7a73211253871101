import { Modal, Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useRotateApiKey } from "../../api/api-keys";
import type { ApiKey } from "../../api/types";
import { DialogActions } from "../../components/dialog-actions";
import { ErrorState } from "../../components/error-state";
import { SecretOnce } from "../../components/secret-once";
import { maskedKey } from "./key-state";

const MINUTE = 60;
const HOUR = 3_600;
const GRACES = [
  {
    seconds: 0,
    label: "At once",
    description: "For a key that has leaked. Orders with it are refused from now on.",
  },
  { seconds: 15 * MINUTE, label: "After 15 minutes" },
  { seconds: HOUR, label: "After 1 hour" },
  { seconds: 6 * HOUR, label: "After 6 hours" },
  {
    seconds: 24 * HOUR,
    label: "After 24 hours",
    description: "Time enough to put the new one in place everywhere.",
  },
];
const USUAL_GRACE = 24 * HOUR;

interface RotateKeyDialogProps {
  apiKey: ApiKey;
  opened: boolean;
  onClose: () => void;
}

/**
 * Replaces a key by a new one, which is shown once; the old one works until the chosen grace ends. It stands beside the
 * list and not in its rows, which come and go with each reading: the new key must stay until it was stored.
 */
export function RotateKeyDialog({ apiKey, opened, onClose }: RotateKeyDialogProps) {
  const [rotated, setRotated] = useState<{ from: ApiKey; secret: string } | null>(null);
  return (
    <>
      <Modal opened={opened} onClose={onClose} title={<Text fw={600}>Rotate “{apiKey.name}”</Text>}>
        <RotateForm
          apiKey={apiKey}
          onCancel={onClose}
          onRotated={(secret) => {
            setRotated({ from: apiKey, secret });
            onClose();
          }}
        />
      </Modal>
      <SecretOnce
        secret={rotated?.secret ?? null}
        title="Your new key"
        what="key"
        onClose={() => setRotated(null)}
      >
        Put it in the place of {rotated && maskedKey(rotated.from)} in your back end's configuration.
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
  const act = () =>
    rotate.mutate({ id: apiKey.id, graceSeconds }, { onSuccess: (created) => onRotated(created.key) });
  return (
    <Stack>
      <Text>A new key takes the place of {maskedKey(apiKey)}. Both work until the old one ends.</Text>
      {rotate.error ? <ErrorState error={rotate.error} title="That did not work" /> : null}
      <Radio.Group
        label="When does the old key end?"
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
      <DialogActions isPending={rotate.isPending} onCancel={onCancel} onAct={act}>
        Rotate key
      </DialogActions>
    </Stack>
  );
}
