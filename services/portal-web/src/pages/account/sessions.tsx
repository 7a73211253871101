import { Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEndOtherSessions, useEndSession, useSessions } from "../../api/account";
import type { AccountScope } from "../../api/recent-authentication";
import type { OpenSession } from "../../api/types";
import { ConfirmButton } from "../../components/confirm-button";
import type { Column } from "../../components/data-table";
import { ListSection } from "../../components/list-section";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";

interface SessionsProps {
  scope: AccountScope;
  description?: string;
}

const DESCRIPTION =
  "Browsers that are logged in to your account. If you do not recognize one, end its session and change your password.";

/** The own sessions in all browsers. */
export function Sessions({ scope, description = DESCRIPTION }: SessionsProps) {
  const sessions = useSessions(scope);
  const hasOthers = sessions.rows.some((session) => !session.current);
  return (
    <ListSection
      title="Sessions"
      description={description}
      actions={hasOthers && <EndOthers scope={scope} />}
      list={sessions}
      failed="The sessions could not be loaded"
      columns={[...COLUMNS, ...(hasBusinesses(sessions.rows) ? [BUSINESS] : []), actions(scope)]}
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
          {session.browser}
        </Text>
        {session.current && <StatusBadge tone="good" label="This session" pill />}
      </Group>
    ),
  },
  { key: "address", header: "IP address", render: (session) => session.address ?? "–" },
  { key: "seen", header: "Last seen", render: (session) => <Time at={session.lastSeenAt} relative /> },
  { key: "created", header: "Logged in", render: (session) => <Time at={session.createdAt} relative /> },
  { key: "expires", header: "Expires", render: (session) => <Time at={session.expiresAt} relative /> },
];

/** Only shown to people in several businesses. */
const BUSINESS: Column<OpenSession> = {
  key: "business",
  header: "Business",
  render: (session) => session.businessName ?? "–",
};

function hasBusinesses(sessions: OpenSession[]): boolean {
  return new Set(sessions.map((session) => session.businessId)).size > 1;
}

function actions(scope: AccountScope): Column<OpenSession> {
  return {
    key: "actions",
    header: "Actions",
    align: "end",
    actions: true,
    render: (session) => (session.current ? null : <End scope={scope} session={session} />),
  };
}

function End({ scope, session }: { scope: AccountScope; session: OpenSession }) {
  const end = useEndSession(scope);
  const name = session.browser;
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

function EndOthers({ scope }: { scope: AccountScope }) {
  const end = useEndOtherSessions(scope);
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
