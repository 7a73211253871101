import { Stack } from "@mantine/core";
import { useMay } from "../../app/session";
import { AccountFrame } from "./account-frame";
import { Invitations } from "./invitations";
import { NotForRole } from "./not-for-role";
import { Users } from "./users";

export function Component() {
  const mayManage = useMay("owner");
  return (
    <AccountFrame>
      {mayManage ? (
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
