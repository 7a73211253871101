import { Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { useChangeRole, useRemoveUser, useUsers } from "../../api/team";
import type { Role, User } from "../../api/types";
import { ROLE_DESCRIPTIONS } from "../../app/session";
import { ConfirmButton } from "../../components/confirm-button";
import { ConfirmDialog } from "../../components/confirm-dialog";
import type { Column } from "../../components/data-table";
import { ListSection } from "../../components/list-section";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { KeysOfUser } from "./keys-of-user";
import { RoleSelect } from "./role-select";

/** The business's users and their roles. */
export function Users() {
  return (
    <ListSection
      title="Users"
      description="All users who can log in to your business."
      list={useUsers()}
      failed="The team could not be loaded"
      columns={COLUMNS}
      rowKey={(user) => user.id}
      empty={null}
    />
  );
}

const COLUMNS: Column<User>[] = [
  {
    key: "email",
    header: "E-mail",
    lead: true,
    render: (user) => (
      <Group gap="xs">
        <Text fw={500}>{user.email}</Text>
        {user.you && <StatusBadge tone="info" label="You" pill />}
      </Group>
    ),
  },
  { key: "role", header: "Role", render: (user) => <UserRole user={user} /> },
  { key: "seen", header: "Last seen", render: (user) => <Time at={user.lastSeenAt} relative /> },
  { key: "joined", header: "Joined", render: (user) => <Time at={user.createdAt} relative /> },
  {
    key: "actions",
    header: "Actions",
    align: "end",
    actions: true,
    render: (user) => <Remove user={user} />,
  },
];

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

const ROLE_NAMES: Record<Role, string> = { owner: "an owner", developer: "a developer", viewer: "a viewer" };

function Remove({ user }: { user: User }) {
  const remove = useRemoveUser();
  return (
    <ConfirmButton
      aria-label={`Remove ${user.email}`}
      title={`Remove ${user.email}?`}
      description={
        user.you ? (
          "You lose access to this business and are logged out."
        ) : (
          <>
            The user is logged out within seconds and can no longer log in to your business. The audit log
            keeps the user’s actions.
            <KeysOfUser user={user} />
          </>
        )
      }
      confirm="Remove"
      onConfirm={() => remove.mutateAsync(user.id)}
    >
      Remove
    </ConfirmButton>
  );
}
