import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { type AuditFilter, useAuditLog } from "../../api/audit-log";
import { useMay } from "../../app/session";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { Section } from "../../components/section";
import { AccountFrame } from "./account-frame";
import { ACTIONS } from "./audit-actions";
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
  const log = useAuditLog(filter);
  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <Section title="Audit log" description="Who did what, newest first. Nobody can change it." flush>
      <Filters filter={filter} onChange={setFilter} />
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
                  <Button variant="default" size="xs" onClick={() => setFilter({})}>
                    Clear the filters
                  </Button>
                )
              }
            >
              {isFiltered
                ? "No entry has this action in this time."
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

interface FiltersProps {
  filter: AuditFilter;
  onChange: (filter: AuditFilter) => void;
}

function Filters({ filter, onChange }: FiltersProps) {
  const [since, setSince] = useState("");
  const [until, setUntil] = useState("");
  return (
    <Group px="md" pb="md" gap="sm" align="flex-end">
      <NativeSelect
        size="xs"
        label="Action"
        value={filter.action ?? ""}
        onChange={(event) => onChange({ ...filter, action: event.currentTarget.value || undefined })}
        data={[
          { value: "", label: "All" },
          ...Object.entries(ACTIONS).map(([value, label]) => ({ value, label })),
        ]}
      />
      <TextInput
        size="xs"
        type="date"
        label="From"
        value={since}
        onChange={(event) => {
          setSince(event.currentTarget.value);
          onChange({ ...filter, since: startOfDay(event.currentTarget.value, 0) });
        }}
      />
      <TextInput
        size="xs"
        type="date"
        label="To"
        value={until}
        onChange={(event) => {
          setUntil(event.currentTarget.value);
          onChange({ ...filter, until: startOfDay(event.currentTarget.value, 1) });
        }}
      />
    </Group>
  );
}

/** The beginning of a day in the user's zone, so many days later, as the server wants it. */
function startOfDay(date: string, daysLater: number): string | undefined {
  if (date === "") return undefined;
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  return new Date(year, month - 1, day + daysLater).toISOString();
}
