import { Button, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconUserPlus } from "@tabler/icons-react";
import { useInvitations, useWithdrawInvitation } from "../../api/team";
import type { Invitation } from "../../api/types";
import { ROLE_LABELS } from "../../app/session";
import { ConfirmButton } from "../../components/confirm-button";
import { type Column, DataTable } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { Section } from "../../components/section";
import { Time } from "../../components/time";
import { InviteDialog } from "./invite-dialog";

/** Who is invited and has not joined yet. */
export function Invitations() {
  const invitations = useInvitations();
  const [isInviting, { open, close }] = useDisclosure(false);
  return (
    <Section
      title="Invitations"
      description="Open for seven days. Each link lets one person in."
      flush
      actions={
        <Button size="xs" leftSection={<IconUserPlus size={15} aria-hidden />} onClick={open}>
          Invite
        </Button>
      }
    >
      {invitations.error ? (
        <div style={{ padding: "0 16px 16px" }}>
          <ErrorState
            error={invitations.error}
            title="The invitations cannot be shown"
            onRetry={() => invitations.refetch()}
          />
        </div>
      ) : (
        <DataTable
          label="Invitations"
          columns={COLUMNS}
          rows={invitations.rows}
          rowKey={(invitation) => invitation.id}
          isLoading={invitations.isPending}
          empty={
            <EmptyState title="Nobody is invited">
              Developers set up keys and webhooks; viewers follow orders; owners also hold the money.
            </EmptyState>
          }
        />
      )}
      <LoadMore
        hasMore={invitations.hasNextPage}
        isLoading={invitations.isFetchingNextPage}
        onMore={invitations.fetchNextPage}
      />
      <InviteDialog opened={isInviting} onClose={close} />
    </Section>
  );
}

const COLUMNS: Column<Invitation>[] = [
  {
    key: "email",
    header: "E-mail",
    lead: true,
    render: (invitation) => <Text fw={500}>{invitation.email}</Text>,
  },
  { key: "role", header: "Role", render: (invitation) => ROLE_LABELS[invitation.role] },
  { key: "created", header: "Invited", render: (invitation) => <Time at={invitation.createdAt} relative /> },
  { key: "expires", header: "Ends", render: (invitation) => <Time at={invitation.expiresAt} relative /> },
  {
    key: "actions",
    header: "Actions",
    align: "end",
    actions: true,
    render: (invitation) => <Withdraw invitation={invitation} />,
  },
];

function Withdraw({ invitation }: { invitation: Invitation }) {
  const withdraw = useWithdrawInvitation();
  return (
    <ConfirmButton
      aria-label={`Withdraw the invitation of ${invitation.email}`}
      title={`Withdraw the invitation of ${invitation.email}?`}
      description="The link stops working at once. You can invite them again."
      confirm="Withdraw"
      onConfirm={() => withdraw.mutateAsync(invitation.id)}
      isPending={withdraw.isPending}
      error={withdraw.error}
    >
      Withdraw
    </ConfirmButton>
  );
}
