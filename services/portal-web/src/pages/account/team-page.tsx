import { Stack } from "@mantine/core";
import { useHasRole } from "../../app/session";
import { AccountFrame } from "./account-frame";
import { Invitations } from "./invitations";
import { NotForRole } from "./not-for-role";
import { Users } from "./users";

export function Component() {
  const canManage = useHasRole("owner");
  return (
    <AccountFrame>
      {canManage ? (
        <Stack gap="lg">
          <Users />
          <Invitations />
        </Stack>
      ) : (
        <NotForRole what="Only owners can manage the team." />
      )}
    </AccountFrame>
  );
}
