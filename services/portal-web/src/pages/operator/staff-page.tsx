import { Button, Group, NativeSelect, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconUserPlus } from "@tabler/icons-react";
import { useState } from "react";
import {
  useChangeStaffRole,
  useEndStaffSessions,
  useRemoveStaff,
  useResetStaffFactor,
  useStaff,
  useStaffLink,
  useUnlinkIdentity,
} from "../../api/operator-access";
import type { OperatorRole, Staff, StaffLink } from "../../api/types";
import { ConfirmButton } from "../../components/confirm-button";
import { ConfirmDialog } from "../../components/confirm-dialog";
import type { Column } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { EndSessionsButton } from "../../components/end-sessions-button";
import { ListFrame } from "../../components/list-section";
import { PageHeader } from "../../components/page-header";
import { ResetFactorButton } from "../../components/reset-factor-button";
import { SecretOnce } from "../../components/secret-once";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { twoFactorColumn } from "../../components/two-factor/two-factor-column";
import { useIsPhone } from "../../components/use-is-phone";
import { InviteStaffDialog } from "./invite-staff-dialog";
import { OPERATOR_ROLE_CHOICES, OPERATOR_ROLE_DESCRIPTIONS, OPERATOR_ROLE_LABELS } from "./operator-roles";

export function Component() {
  const [isInviting, { open, close }] = useDisclosure(false);
  // Shown outside the table's rows, which each refetch replaces.
  const [link, setLink] = useState<StaffLink | null>(null);
  return (
    <>
      <PageHeader
        title="Staff"
        description="The people who work with this console. Everything that they do is in the audit log."
        actions={
          <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={open}>
            Invite
          </Button>
        }
      />
      <ListFrame
        label="Staff"
        list={useStaff()}
        failed="The staff could not be loaded"
        columns={[...COLUMNS, actions(setLink)]}
        rowKey={(person) => person.id}
        empty={
          <EmptyState title="Nobody has a personal account yet">
            Invite yourself as an administrator first. Then keep the installation token for programs.
          </EmptyState>
        }
      />
      <InviteStaffDialog opened={isInviting} onClose={close} onInvited={setLink} />
      <SecretOnce
        secret={link?.url ?? null}
        title={`Link for ${link?.email ?? ""}`}
        what="link"
        onClose={() => setLink(null)}
      >
        Send it to this person yourself, and share it with nobody else. It sets the password once, until{" "}
        {link && <Time at={link.expiresAt} />}.
      </SecretOnce>
    </>
  );
}

const COLUMNS: Column<Staff>[] = [
  {
    key: "person",
    header: "Person",
    lead: true,
    render: (person) => (
      <div style={{ overflowWrap: "anywhere" }}>
        <Group gap="xs">
          <Text fw={500}>{person.name}</Text>
          {person.you && <StatusBadge tone="info" label="You" pill />}
          {person.status === "invited" && <StatusBadge tone="idle" label="Invited" pill />}
          {person.status === "inactive" && <StatusBadge tone="warn" label="Cannot log in" pill />}
          {person.singleSignOn && <StatusBadge tone="idle" label="Single sign-on" pill />}
        </Group>
        <Text size="xs" c="dimmed">
          {person.email}
        </Text>
      </div>
    ),
  },
  { key: "role", header: "Role", render: (person) => <StaffRole person={person} /> },
  twoFactorColumn(),
  { key: "seen", header: "Last seen", render: (person) => <Time at={person.lastSeenAt} relative /> },
];

function actions(onLink: (link: StaffLink) => void): Column<Staff> {
  return {
    key: "actions",
    header: "Actions",
    align: "end",
    actions: true,
    render: (person) => <Actions person={person} onLink={onLink} />,
  };
}

function Actions({ person, onLink }: { person: Staff; onLink: (link: StaffLink) => void }) {
  const isPhone = useIsPhone();
  return (
    <Group gap="xs" justify={isPhone ? "flex-start" : "flex-end"}>
      {person.secondFactor && !person.you && <ResetFactor person={person} />}
      {!person.you && person.status === "active" && <EndSessions person={person} />}
      {person.singleSignOn && <Unlink person={person} />}
      <NewLink person={person} onLink={onLink} />
      <Remove person={person} />
    </Group>
  );
}

/** Asks for confirmation, because a select changes with each arrow key. */
function StaffRole({ person }: { person: Staff }) {
  const change = useChangeStaffRole();
  const [chosen, setChosen] = useState<OperatorRole>(person.role);
  const [isAsking, { open, close }] = useDisclosure(false);
  return (
    <>
      <NativeSelect
        size="xs"
        w={140}
        aria-label={`Role of ${person.email}`}
        value={person.role}
        onChange={(event) => {
          setChosen(event.currentTarget.value as OperatorRole);
          open();
        }}
        data={OPERATOR_ROLE_CHOICES}
      />
      <ConfirmDialog
        opened={isAsking}
        onClose={close}
        title={`Change the role of ${person.email} to ${OPERATOR_ROLE_LABELS[chosen].toLowerCase()}?`}
        description={`${OPERATOR_ROLE_DESCRIPTIONS[chosen]} The change takes effect immediately.`}
        confirm="Change role"
        onConfirm={() => change.mutateAsync({ id: person.id, role: chosen })}
      />
    </>
  );
}

function NewLink({ person, onLink }: { person: Staff; onLink: (link: StaffLink) => void }) {
  const create = useStaffLink();
  return (
    <ConfirmButton
      aria-label={`New link for ${person.email}`}
      title={`Create a link for ${person.email}?`}
      description="The link sets a new password. An older link stops working. Verify the person’s identity first."
      confirm="Create link"
      onConfirm={() => create.mutateAsync(person.id).then(onLink)}
    >
      New link
    </ConfirmButton>
  );
}

function EndSessions({ person }: { person: Staff }) {
  const end = useEndStaffSessions();
  return <EndSessionsButton email={person.email} onEnd={() => end.mutateAsync(person.id)} />;
}

function Unlink({ person }: { person: Staff }) {
  const unlink = useUnlinkIdentity();
  return (
    <ConfirmButton
      aria-label={`Unlink ${person.email} from single sign-on`}
      title={`Unlink ${person.email} from single sign-on?`}
      description="The sessions that single sign-on has opened end. Afterwards this person logs in with a password, and keeps the present role."
      confirm="Unlink"
      onConfirm={() => unlink.mutateAsync(person.id)}
    >
      Unlink
    </ConfirmButton>
  );
}

function ResetFactor({ person }: { person: Staff }) {
  const reset = useResetStaffFactor();
  return <ResetFactorButton email={person.email} onReset={() => reset.mutateAsync(person.id)} />;
}

function Remove({ person }: { person: Staff }) {
  const remove = useRemoveStaff();
  return (
    <ConfirmButton
      aria-label={`Remove ${person.email}`}
      title={`Remove ${person.email}?`}
      description={
        person.you
          ? "You lose access to this console and are logged out."
          : "All sessions of this person end immediately. The audit log keeps what they did."
      }
      confirm="Remove"
      onConfirm={() => remove.mutateAsync(person.id)}
    >
      Remove
    </ConfirmButton>
  );
}
