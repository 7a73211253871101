import { Anchor, List, Text } from "@mantine/core";
import { Link } from "react-router-dom";
import { useKeysCreatedBy } from "../../api/api-keys";
import type { User } from "../../api/types";
import { InlineCode } from "../../components/code-block";
import { ErrorState } from "../../components/error-state";
import { keyState, maskedKey } from "../api-keys/key-state";

/** The working keys of a user who leaves: the user may have copied them, and they keep working. */
export function KeysOfUser({ user }: { user: User }) {
  const { data, error } = useKeysCreatedBy(user.id);
  if (error) return <ErrorState error={error} title="The user’s API keys could not be loaded" />;
  const working = data?.data.filter((key) => keyState(key).works) ?? [];
  if (working.length === 0) return null;
  return (
    <>
      <Text mt="sm">These API keys of the user keep working:</Text>
      <List size="sm" my={6} aria-label="Keys of the user">
        {working.map((key) => (
          <List.Item key={key.id}>
            {key.name} <InlineCode>{maskedKey(key)}</InlineCode>
          </List.Item>
        ))}
      </List>
      <Text>
        The user may have copied them. Rotate them on the page{" "}
        <Anchor component={Link} to="/api-keys">
          API keys
        </Anchor>
        .
      </Text>
    </>
  );
}
