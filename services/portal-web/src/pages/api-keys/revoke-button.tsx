import { Checkbox, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useApiKeys, useRevokeApiKey } from "../../api/api-keys";
import type { ApiKey } from "../../api/types";
import { ConfirmButton } from "../../components/confirm-button";
import { Time } from "../../components/time";
import { keyState, maskedKey } from "./key-state";

/** The longest grace period of a rotated key. */
const GRACE_MAX_MS = 24 * 3_600_000;

/** Revokes a key and, unless the user keeps them, the keys that it replaced and that still work. */
export function RevokeButton({ apiKey }: { apiKey: ApiKey }) {
  const revoke = useRevokeApiKey();
  const [keepPredecessor, setKeepPredecessor] = useState(false);
  return (
    <ConfirmButton
      aria-label={`Revoke ${apiKey.name} …${apiKey.lastFour}`}
      title={`Revoke “${apiKey.name}”?`}
      description={
        <Stack gap="sm">
          <Text>
            Requests with {maskedKey(apiKey)} are rejected within seconds. This cannot be undone. To replace
            the key without downtime, rotate it instead.
          </Text>
          <Predecessors apiKey={apiKey} isKept={keepPredecessor} onKeep={setKeepPredecessor} />
        </Stack>
      }
      confirm="Revoke key"
      onConfirm={() => revoke.mutateAsync({ id: apiKey.id, keepPredecessor })}
    >
      Revoke
    </ConfirmButton>
  );
}

interface PredecessorsProps {
  apiKey: ApiKey;
  isKept: boolean;
  onKeep: (isKept: boolean) => void;
}

function Predecessors({ apiKey, isKept, onKeep }: PredecessorsProps) {
  const { working, isComplete } = predecessors(apiKey, useApiKeys().rows);
  if (working.length === 0 && isComplete) return null;
  const verb = isKept ? "keeps" : "stops";
  return (
    <>
      {working.map((key) => (
        <Text key={key.id}>
          {maskedKey(key)}, which was rotated, {isKept ? "works" : "would work"} until{" "}
          <Time at={key.expiresAt} />. It {verb} working {isKept ? "until then" : "too"}.
        </Text>
      ))}
      {!isComplete && (
        <Text>
          A key that it replaced may still be in its grace period. It {verb} working
          {isKept ? " until its end" : " too"}.
        </Text>
      )}
      <Checkbox
        label="Keep the replaced key until its grace period ends"
        checked={isKept}
        onChange={(event) => onKeep(event.currentTarget.checked)}
      />
    </>
  );
}

/** The keys before this one that still work, as far as the list is loaded. */
function predecessors(apiKey: ApiKey, listed: ApiKey[]): { working: ApiKey[]; isComplete: boolean } {
  const working: ApiKey[] = [];
  let key = apiKey;
  while (key.replaces && Date.now() - Date.parse(key.createdAt) < GRACE_MAX_MS) {
    const former = listed.find(({ id }) => id === key.replaces);
    if (!former) return { working, isComplete: false };
    if (keyState(former).works) working.push(former);
    key = former;
  }
  return { working, isComplete: true };
}
