import { Button, Group, Modal, Radio, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { useRotateApiKey } from "../../api/api-keys";
import type { ApiKey } from "../../api/types";
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

/** Replaces a key by a new one, which is shown once; the old one works until the chosen grace ends. */
export function RotateKeyButton({ apiKey }: { apiKey: ApiKey }) {
  const rotate = useRotateApiKey();
  const [isAsking, { open, close }] = useDisclosure(false);
  const [graceSeconds, setGraceSeconds] = useState(USUAL_GRACE);
  const [secret, setSecret] = useState<string | null>(null);

  function ask() {
    rotate.reset();
    setGraceSeconds(USUAL_GRACE);
    open();
  }

  function act() {
    rotate.mutate(
      { id: apiKey.id, graceSeconds },
      {
        onSuccess: (created) => {
          setSecret(created.key);
          close();
        },
      },
    );
  }

  return (
    <>
      <Button variant="default" size="xs" onClick={ask} aria-label={`Rotate ${apiKey.name}`}>
        Rotate
      </Button>
      <Modal opened={isAsking} onClose={close} title={<Text fw={600}>Rotate “{apiKey.name}”</Text>}>
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
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button loading={rotate.isPending} onClick={act}>
              Rotate key
            </Button>
          </Group>
        </Stack>
      </Modal>
      <SecretOnce secret={secret} title="Your new key" what="key" onClose={() => setSecret(null)}>
        Put it in the place of {maskedKey(apiKey)} in your back end's configuration.
      </SecretOnce>
    </>
  );
}
