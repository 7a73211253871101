import { Text } from "@mantine/core";
import type { User } from "../api/types";

/** The name of a user, if any, with the e-mail address. */
export function UserName({ user }: { user: User }) {
  return (
    <div>
      <Text fw={500}>{user.name ?? user.email}</Text>
      {user.name && (
        <Text size="xs" c="dimmed">
          {user.email}
        </Text>
      )}
    </div>
  );
}
