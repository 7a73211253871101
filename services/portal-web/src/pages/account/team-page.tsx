import { Stack } from "@mantine/core";
import { NotForRole } from "../../app/not-for-role";
import { useMay } from "../../app/session";
import { AccountFrame } from "./account-frame";
import { Invitations } from "./invitations";
import { Users } from "./users";

export function Component() {
  const canManage = useMay("manage_users");
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
