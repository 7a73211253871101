import { Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEndOtherSessions, useEndSession, useSessions } from "../../api/account";
import type { OpenSession } from "../../api/types";
import { ConfirmButton } from "../../components/confirm-button";
import type { Column } from "../../components/data-table";
import { ListSection } from "../../components/list-section";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { browserName } from "./browser-name";

/** The user's sessions in all browsers. */
export function Sessions() {
  const sessions = useSessions();
  const hasOthers = sessions.rows.some((session) => !session.current);
  return (
    <ListSection
      title="Sessions"
      description="Browsers that are logged in to your account. If you do not recognize one, end its session and change your password."
      actions={hasOthers && <EndOthers />}
      list={sessions}
      failed="The sessions could not be loaded"
      columns={COLUMNS}
      rowKey={(session) => session.id}
      empty={null}
    />
  );
}

const COLUMNS: Column<OpenSession>[] = [
  {
    key: "browser",
    header: "Browser",
    lead: true,
    render: (session) => (
      <Group gap="xs">
        <Text fw={500} title={session.userAgent ?? undefined}>
          {browserName(session.userAgent)}
        </Text>
        {session.current && <StatusBadge tone="good" label="This browser" pill />}
      </Group>
    ),
  },
  { key: "seen", header: "Last seen", render: (session) => <Time at={session.lastSeenAt} relative /> },
  { key: "created", header: "Logged in", render: (session) => <Time at={session.createdAt} relative /> },
  { key: "expires", header: "Expires", render: (session) => <Time at={session.expiresAt} relative /> },
  {
    key: "actions",
    header: "Actions",
    align: "end",
    actions: true,
    render: (session) => (session.current ? null : <End session={session} />),
  },
];

function End({ session }: { session: OpenSession }) {
  const end = useEndSession();
  const name = browserName(session.userAgent);
  return (
    <ConfirmButton
      aria-label={`End the session of ${name}`}
      title={`End the session of ${name}?`}
      description="The browser is logged out within seconds."
      confirm="End session"
      onConfirm={() => end.mutateAsync(session.id)}
    >
      End
    </ConfirmButton>
  );
}

function EndOthers() {
  const end = useEndOtherSessions();
  async function endOthers() {
    const { revoked } = await end.mutateAsync();
    notifications.show({ message: `${revoked} ${revoked === 1 ? "session" : "sessions"} ended.` });
  }
  return (
    <ConfirmButton
      title="End all other sessions?"
      description="All other browsers are logged out of your account."
      confirm="End sessions"
      onConfirm={endOthers}
    >
      End all other sessions
    </ConfirmButton>
  );
}
