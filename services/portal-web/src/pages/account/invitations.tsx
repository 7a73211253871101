import { Button, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconUserPlus } from "@tabler/icons-react";
import { useInvitations, useWithdrawInvitation } from "../../api/team";
import type { Invitation } from "../../api/types";
import { ROLE_LABELS } from "../../app/session";
import { ConfirmButton } from "../../components/confirm-button";
import type { Column } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { ListSection } from "../../components/list-section";
import { Time } from "../../components/time";
import { InviteDialog } from "./invite-dialog";

/** The open invitations. */
export function Invitations() {
  const [isInviting, { open, close }] = useDisclosure(false);
  return (
    <>
      <ListSection
        title="Invitations"
        description="An invitation link works once, within seven days."
        actions={
          <Button size="xs" leftSection={<IconUserPlus size={15} aria-hidden />} onClick={open}>
            Invite
          </Button>
        }
        list={useInvitations()}
        failed="The invitations could not be loaded"
        columns={COLUMNS}
        rowKey={(invitation) => invitation.id}
        empty={
          <EmptyState title="No open invitations">
            Each user gets one of five roles. Choose the one with the least rights that is enough.
          </EmptyState>
        }
      />
      <InviteDialog opened={isInviting} onClose={close} />
    </>
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
  { key: "expires", header: "Expires", render: (invitation) => <Time at={invitation.expiresAt} relative /> },
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
      aria-label={`Withdraw the invitation for ${invitation.email}`}
      title={`Withdraw the invitation for ${invitation.email}?`}
      description="The link stops working immediately. You can send a new invitation."
      confirm="Withdraw"
      onConfirm={() => withdraw.mutateAsync(invitation.id)}
    >
      Withdraw
    </ConfirmButton>
  );
}
