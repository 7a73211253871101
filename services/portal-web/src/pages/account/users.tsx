import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { useChangeRole, useEndSessionsOf, useResetFactor, useUsers } from "../../api/team";
import type { Role, User } from "../../api/types";
import { ROLE_DESCRIPTIONS } from "../../app/session";
import { ConfirmDialog } from "../../components/confirm-dialog";
import type { Column } from "../../components/data-table";
import { EndSessionsButton } from "../../components/end-sessions-button";
import { ListSection } from "../../components/list-section";
import { ResetFactorButton } from "../../components/reset-factor-button";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { twoFactorColumn } from "../../components/two-factor/two-factor-column";
import { UserName } from "../../components/user-name";
import { LinkUser } from "./link-user";
import { RemoveUser } from "./remove-user";
import { RoleSelect } from "./role-select";

/** The business's users and their roles. */
export function Users() {
  const [leaving, setLeaving] = useState<User | null>(null);
  return (
    <>
      <ListSection
        title="Users"
        description="All users who can log in to your business."
        list={useUsers()}
        failed="The team could not be loaded"
        columns={[...COLUMNS, actions(setLeaving)]}
        rowKey={(user) => user.id}
        empty={null}
      />
      {leaving && <RemoveUser key={leaving.id} user={leaving} onClose={() => setLeaving(null)} />}
    </>
  );
}

const COLUMNS: Column<User>[] = [
  {
    key: "email",
    header: "User",
    lead: true,
    render: (user) => (
      <Group gap="xs">
        <UserName user={user} />
        {user.you && <StatusBadge tone="info" label="You" pill />}
      </Group>
    ),
  },
  { key: "role", header: "Role", render: (user) => <UserRole user={user} /> },
  twoFactorColumn(),
  { key: "seen", header: "Last seen", render: (user) => <Time at={user.lastSeenAt} relative /> },
  { key: "joined", header: "Joined", render: (user) => <Time at={user.createdAt} relative /> },
];

function actions(onRemove: (user: User) => void): Column<User> {
  return {
    key: "actions",
    header: "Actions",
    align: "end",
    actions: true,
    render: (user) => (
      <Group gap="xs" justify="flex-end">
        {user.secondFactor && !user.you && <ResetFactor user={user} />}
        {!user.you && <EndSessions user={user} />}
        {!user.hasPassword && <LinkUser user={user} />}
        <Button
          variant="default"
          size="xs"
          aria-label={`Remove ${user.email}`}
          onClick={() => onRemove(user)}
        >
          Remove
        </Button>
      </Group>
    ),
  };
}

/** Asks for confirmation, because a select changes with each arrow key. */
function UserRole({ user }: { user: User }) {
  const change = useChangeRole();
  const [chosen, setChosen] = useState<Role>(user.role);
  const [isAsking, { open, close }] = useDisclosure(false);
  return (
    <>
      <RoleSelect
        label={`Role of ${user.email}`}
        value={user.role}
        onChange={(role) => {
          setChosen(role);
          open();
        }}
      />
      <ConfirmDialog
        opened={isAsking}
        onClose={close}
        title={`Make ${user.email} ${ROLE_NAMES[chosen]}?`}
        description={`${ROLE_DESCRIPTIONS[chosen]} The change takes effect immediately.`}
        confirm="Change role"
        onConfirm={() => change.mutateAsync({ id: user.id, role: chosen })}
      />
    </>
  );
}

const ROLE_NAMES: Record<Role, string> = {
  owner: "an owner",
  developer: "a developer",
  finance: "a finance user",
  support: "a support user",
  viewer: "a viewer",
};

function EndSessions({ user }: { user: User }) {
  const end = useEndSessionsOf();
  return <EndSessionsButton email={user.email} onEnd={() => end.mutateAsync(user.id)} />;
}

function ResetFactor({ user }: { user: User }) {
  const reset = useResetFactor();
  return <ResetFactorButton email={user.email} onReset={() => reset.mutateAsync(user.id)} />;
}
