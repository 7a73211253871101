import { Button, Group, List, Text } from "@mantine/core";
import { useKeysCreatedBy } from "../../api/api-keys";
import type { ApiKey, User } from "../../api/types";
import { InlineCode } from "../../components/code-block";
import { ErrorState } from "../../components/error-state";
import { Time } from "../../components/time";
import { isReplaced, keyState, maskedKey } from "../api-keys/key-state";

interface KeysOfUserProps {
  user: User;
  onRotate: (key: ApiKey) => void;
}

/** The working keys of a user who leaves: the user may have copied them, and they keep working. */
export function KeysOfUser({ user, onRotate }: KeysOfUserProps) {
  const { data, error, refetch } = useKeysCreatedBy(user.id);
  if (error) {
    return (
      <ErrorState error={error} title="The user’s API keys could not be loaded" onRetry={() => refetch()} />
    );
  }
  const working = data?.data.filter((key) => keyState(key).works) ?? [];
  if (working.length === 0) return null;
  return (
    <>
      <Text mt="sm">
        These API keys of the user keep working, and the user may have copied them. Rotate them:
      </Text>
      <List size="sm" my={6} listStyleType="none" spacing={6} aria-label="Keys of the user">
        {working.map((key) => (
          <List.Item key={key.id}>
            <Group gap="xs">
              {key.name} <InlineCode>{maskedKey(key)}</InlineCode>
              {isReplaced(key) ? (
                <Text size="xs" c="dimmed">
                  rotated, ends at <Time at={key.expiresAt} />
                </Text>
              ) : (
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={`Rotate ${key.name} …${key.lastFour}`}
                  onClick={() => onRotate(key)}
                >
                  Rotate
                </Button>
              )}
            </Group>
          </List.Item>
        ))}
      </List>
    </>
  );
}
