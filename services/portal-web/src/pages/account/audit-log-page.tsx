import { Button } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { type AuditFilter, useAuditLog } from "../../api/audit-log";
import { useMay } from "../../app/session";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { Section } from "../../components/section";
import { AccountFrame } from "./account-frame";
import { AuditFilters } from "./audit-filters";
import { AuditTable } from "./audit-table";
import { NotForRole } from "./not-for-role";

export function Component() {
  const mayRead = useMay("developer");
  return (
    <AccountFrame>
      {mayRead ? <AuditLog /> : <NotForRole what="The audit log is for developers and owners." />}
    </AccountFrame>
  );
}

function AuditLog() {
  const [filter, setFilter] = useState<AuditFilter>({});
  const [cleared, setCleared] = useState(0);
  const clear = () => {
    setFilter({});
    setCleared(cleared + 1);
  };
  const log = useAuditLog(filter);
  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <Section title="Audit log" description="Who did what, newest first. Nobody can change it." flush>
      <AuditFilters key={cleared} filter={filter} onChange={setFilter} />
      {log.error ? (
        <div style={{ padding: "0 16px 16px" }}>
          <ErrorState error={log.error} title="The log cannot be shown" onRetry={() => log.refetch()} />
        </div>
      ) : (
        <AuditTable
          entries={log.rows}
          isLoading={log.isPending}
          empty={
            <EmptyState
              icon={<IconHistory size={26} />}
              title={isFiltered ? "Nothing matches" : "Nothing yet"}
              action={
                isFiltered && (
                  <Button variant="default" size="xs" onClick={clear}>
                    Clear the filters
                  </Button>
                )
              }
            >
              {isFiltered
                ? "No entry is as the filters want it."
                : "Log-ins, keys, webhooks, money and team: each change is written here as it happens."}
            </EmptyState>
          }
        />
      )}
      <LoadMore
        hasMore={log.hasNextPage}
        isLoading={log.isFetchingNextPage}
        onMore={log.fetchNextPage}
        shown={log.rows.length}
      />
    </Section>
  );
}
