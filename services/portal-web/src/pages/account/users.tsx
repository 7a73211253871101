import { Group, Text } from "@mantine/core";
import { useChangeRole, useRemoveUser, useUsers } from "../../api/team";
import type { Role, User } from "../../api/types";
import { ConfirmButton } from "../../components/confirm-button";
import type { Column } from "../../components/data-table";
import { ListSection } from "../../components/list-section";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { RoleSelect } from "./role-select";

/** Who has access, and as what. */
export function Users() {
  return (
    <ListSection
      title="People"
      description="Everybody who can log in to your business."
      list={useUsers()}
      failed="The team cannot be shown"
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

function UserRole({ user }: { user: User }) {
  const change = useChangeRole();
  return (
    <>
      <RoleSelect
        label={`Role of ${user.email}`}
        value={change.isPending ? change.variables.role : user.role}
        isDisabled={change.isPending}
        onChange={(role: Role) => change.mutate({ id: user.id, role })}
      />
      {change.error && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert" maw="14rem" mt={4}>
          {change.error.message}
        </Text>
      )}
    </>
  );
}

function Remove({ user }: { user: User }) {
  const remove = useRemoveUser();
  return (
    <ConfirmButton
      aria-label={`Remove ${user.email}`}
      title={`Remove ${user.email}?`}
      description={
        user.you
          ? "You lose access to this business at once, and are logged out."
          : "They are logged out within seconds and cannot log in to your business any more. What they did stays in the audit log."
      }
      confirm="Remove"
      onConfirm={() => remove.mutateAsync(user.id)}
      isPending={remove.isPending}
      error={remove.error}
    >
      Remove
    </ConfirmButton>
  );
}
