import { NativeSelect, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useLinkUser, useUsers } from "../../api/team";
import type { User } from "../../api/types";
import { ConfirmButton } from "../../components/confirm-button";
import { LoadMore } from "../../components/load-more";

/** An owner says which user a user is whom single sign-on has created. */
export function LinkUser({ user }: { user: User }) {
  const link = useLinkUser();
  const users = useUsers();
  const others = users.rows.filter(({ id, hasPassword }) => id !== user.id && hasPassword);
  const [chosen, setChosen] = useState("");
  // The same address is the usual case.
  const userId = chosen || others.find(({ email }) => email === user.email)?.id || others[0]?.id || "";
  return (
    <ConfirmButton
      aria-label={`Link ${user.email}`}
      title={`Link ${user.email} with another user?`}
      description={
        <Stack gap="sm">
          <Text>
            Single sign-on has created this user. If it is the same person as a user with a password, link
            them: the company account then logs in as that user, and this user is removed. Link only people
            whom you know.
          </Text>
          <NativeSelect
            label="Same person as"
            data={others.map(({ id, email, name }) => ({
              value: id,
              label: name ? `${email} (${name})` : email,
            }))}
            value={userId}
            onChange={(event) => setChosen(event.currentTarget.value)}
          />
          <LoadMore list={users} />
        </Stack>
      }
      confirm="Link"
      onConfirm={() => link.mutateAsync({ id: user.id, userId })}
    >
      Link
    </ConfirmButton>
  );
}
