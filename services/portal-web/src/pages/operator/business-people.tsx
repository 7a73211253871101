import { Button, Text } from "@mantine/core";
import { useState } from "react";
import { useBusinessUsers, useMakeResetLink } from "../../api/operator-businesses";
import { ROLE_LABELS } from "../../app/session";
import type { Column } from "../../components/data-table";
import { ListSection } from "../../components/list-section";
import { SecretOnce } from "../../components/secret-once";
import { Time } from "../../components/time";

/** Who can log in to the business, and letting somebody in again who has lost their password. */
export function BusinessPeople({ businessId }: { businessId: string }) {
  const users = useBusinessUsers(businessId);
  const columns: Column<User>[] = [
    ...FACTS,
    {
      key: "actions",
      header: "Actions",
      align: "end",
      actions: true,
      render: (user) => <ResetLink businessId={businessId} email={user.email} />,
    },
  ];
  return (
    <ListSection
      title="People"
      description="Whoever has lost their password gets a link from you. Make sure that you know whom you give it to."
      list={users}
      failed="The people cannot be shown"
      columns={columns}
      rowKey={(user) => user.id}
      empty={null}
    />
  );
}

type User = ReturnType<typeof useBusinessUsers>["rows"][number];

const FACTS: Column<User>[] = [
  { key: "email", header: "E-mail", lead: true, render: (user) => <Text fw={500}>{user.email}</Text> },
  { key: "role", header: "Role", render: (user) => ROLE_LABELS[user.role] },
  { key: "seen", header: "Last seen", render: (user) => <Time at={user.lastSeenAt} relative /> },
  { key: "joined", header: "Joined", render: (user) => <Time at={user.createdAt} relative /> },
];

function ResetLink({ businessId, email }: { businessId: string; email: string }) {
  const make = useMakeResetLink(businessId);
  const [link, setLink] = useState<string | null>(null);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        loading={make.isPending}
        aria-label={`Make a reset link for ${email}`}
        onClick={() => make.mutate(email, { onSuccess: ({ url }) => setLink(url) })}
      >
        Reset link
      </Button>
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
        It works once, within an hour, and sets a new password. Whoever opens it has the account.
      </SecretOnce>
    </>
  );
}
