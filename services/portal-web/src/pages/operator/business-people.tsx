import { Group, Text } from "@mantine/core";
import { useState } from "react";
import { isApproval } from "../../api/operator-approvals";
import { useBusinessUsers, useMakeResetLink, useResetUserFactor } from "../../api/operator-businesses";
import { ROLE_LABELS } from "../../app/session";
import { CallButton } from "../../components/call-button";
import type { Column } from "../../components/data-table";
import { ListSection } from "../../components/list-section";
import { ResetFactorButton } from "../../components/reset-factor-button";
import { SecretOnce } from "../../components/secret-once";
import { Time } from "../../components/time";
import { twoFactorColumn } from "../../components/two-factor/two-factor-column";
import { UserName } from "../../components/user-name";
import { notifySent } from "./approval-labels";

/** The business's users, and password reset links for them. */
export function BusinessPeople({ businessId }: { businessId: string }) {
  const users = useBusinessUsers(businessId);
  const columns: Column<User>[] = [
    ...FACTS,
    {
      key: "actions",
      header: "Actions",
      align: "end",
      actions: true,
      render: (user) => (
        <Group gap="xs" justify="flex-end">
          {user.secondFactor && <ResetFactor businessId={businessId} user={user} />}
          <ResetLink businessId={businessId} email={user.email} />
        </Group>
      ),
    },
  ];
  return (
    <ListSection
      title="Users"
      description="Create a reset link for a user who has lost the password. Verify the person’s identity first."
      list={users}
      failed="The users could not be loaded"
      columns={columns}
      rowKey={(user) => user.id}
      empty={null}
    />
  );
}

type User = ReturnType<typeof useBusinessUsers>["rows"][number];

const FACTS: Column<User>[] = [
  { key: "email", header: "User", lead: true, render: (user) => <UserName user={user} /> },
  { key: "role", header: "Role", render: (user) => ROLE_LABELS[user.role] },
  twoFactorColumn(),
  { key: "seen", header: "Last seen", render: (user) => <Time at={user.lastSeenAt} relative /> },
  { key: "joined", header: "Joined", render: (user) => <Time at={user.createdAt} relative /> },
];

function ResetFactor({ businessId, user }: { businessId: string; user: User }) {
  const reset = useResetUserFactor(businessId);
  return <ResetFactorButton email={user.email} onReset={() => reset.mutateAsync(user.id)} />;
}

function ResetLink({ businessId, email }: { businessId: string; email: string }) {
  const make = useMakeResetLink(businessId);
  const [link, setLink] = useState<string | null>(null);
  return (
    <>
      <CallButton
        variant="default"
        size="xs"
        loading={make.isPending}
        aria-label={`Create reset link for ${email}`}
        onClick={() =>
          make.mutate(email, {
            onSuccess: (given) => (isApproval(given) ? notifySent(given) : setLink(given.url)),
          })
        }
      >
        Create reset link
      </CallButton>
      {make.error && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert" mt={4}>
          {make.error.message}
        </Text>
      )}
      <SecretOnce
        secret={link}
        title={`Reset link for ${email}`}
        what="link"
        onClose={() => {
          setLink(null);
          make.reset();
        }}
      >
        The link works once, within an hour, and sets a new password. Anyone who opens it gets access to the
        account.
      </SecretOnce>
    </>
  );
}
