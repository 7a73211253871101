import { Anchor, Group, NativeSelect, Text } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router-dom";
import { type OperatorAuditFilter, useOperatorAuditLog } from "../../api/operator-access";
import type { OperatorAuditEntry } from "../../api/types";
import { AddressField } from "../../components/address-field";
import { InlineCode } from "../../components/code-block";
import type { Column } from "../../components/data-table";
import { DayField } from "../../components/day-field";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { ExportLog } from "../../components/export-log";
import { ListFrame } from "../../components/list-section";
import { PageHeader } from "../../components/page-header";
import { SearchField } from "../../components/search-field";
import { Time } from "../../components/time";
import { endOfDay, startOfDay } from "../../format/day";
import { actionLabel } from "../account/audit-actions";
import { OPERATOR_ACTIONS } from "./operator-actions";

/** What the operator's people and tokens did, and whose data they read. */
export function Component() {
  const [filter, setFilter] = useState<OperatorAuditFilter>({});
  const [cleared, setCleared] = useState(0);
  const isFiltered = Object.values(filter).some(Boolean);
  const clear = () => {
    setFilter({});
    setCleared(cleared + 1);
  };
  return (
    <>
      <PageHeader
        title="Audit log"
        description="What people and tokens of your company did, and whose data they read. Entries cannot be changed."
        actions={<ExportLog path="/v1/operator/audit-log" filter={filter} />}
      />
      <Group gap="xs" mb="sm" align="flex-start" key={cleared}>
        <SearchField
          size="xs"
          label="Person or token"
          hasVisibleLabel
          placeholder="Exact e-mail or token name"
          value={filter.actor}
          onChange={(actor) => setFilter({ ...filter, actor })}
          style={{ flex: "1 1 16rem", maxWidth: "26rem" }}
        />
        <NativeSelect
          size="xs"
          label="Action"
          value={filter.action ?? ""}
          onChange={(event) => setFilter({ ...filter, action: event.currentTarget.value || undefined })}
          data={[{ value: "", label: "All actions" }, ...ACTIONS]}
        />
        <AddressField onAddress={(address) => setFilter({ ...filter, address })} />
        <DayField label="From" onDay={(date) => setFilter({ ...filter, since: startOfDay(date) })} />
        <DayField label="To" onDay={(date) => setFilter({ ...filter, until: endOfDay(date) })} />
      </Group>
      <ListFrame
        label="Audit log"
        list={useOperatorAuditLog(filter)}
        failed="The audit log could not be loaded"
        columns={COLUMNS}
        rowKey={(entry) => entry.id}
        showsCount
        empty={
          isFiltered ? (
            <NoMatches icon={<IconHistory size={26} />} onClear={clear}>
              Try another action, person, token, IP address or period.
            </NoMatches>
          ) : (
            <EmptyState icon={<IconHistory size={26} />} title="No entries yet">
              Logins, changes, and reads of personal data are recorded here.
            </EmptyState>
          )
        }
      />
    </>
  );
}

const ACTIONS = Object.entries(OPERATOR_ACTIONS).map(([value, label]) => ({ value, label }));

const COLUMNS: Column<OperatorAuditEntry>[] = [
  { key: "at", header: "Time", render: (entry) => <Time at={entry.at} /> },
  {
    key: "action",
    header: "Action",
    lead: true,
    render: (entry) => (
      <>
        <Text fw={500}>{OPERATOR_ACTIONS[entry.action] ?? actionLabel(entry.action)}</Text>
        <Subject entry={entry} />
      </>
    ),
  },
  { key: "actor", header: "Person or token", render: (entry) => <Actor entry={entry} /> },
  { key: "address", header: "IP address", render: (entry) => entry.address ?? "–" },
  { key: "details", header: "Details", render: (entry) => details(entry) },
];

function Subject({ entry }: { entry: OperatorAuditEntry }) {
  const { businessId, target } = entry;
  return (
    <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: "anywhere" }}>
      {target && target.id !== businessId && (
        <div>{target.label ?? <InlineCode>{target.id}</InlineCode>}</div>
      )}
      {businessId && (
        <Anchor component={Link} to={`/operator/businesses/${businessId}`} size="xs">
          {businessId}
        </Anchor>
      )}
    </Text>
  );
}

const ACTORS: Record<string, string> = {
  configuration: "Token of the settings",
  command: "Command create-operator",
  unknown: "Unknown",
};

function Actor({ entry: { actor } }: { entry: OperatorAuditEntry }) {
  return <span style={{ overflowWrap: "anywhere" }}>{ACTORS[actor.type] ?? actor.name}</span>;
}

function details({ details }: OperatorAuditEntry): string {
  const all = Object.entries(details as Record<string, unknown>);
  const given = all.filter(([, value]) => !Array.isArray(value) || value.length > 0);
  const text = given.map(([name, value]) => `${name}: ${Array.isArray(value) ? listed(value) : value}`);
  return text.join("; ") || "–";
}

/** Of a list that was read. Exports have all ids. */
const LISTED_MAX = 5;

function listed(values: unknown[]): string {
  const more = values.length - LISTED_MAX;
  const shown = values.slice(0, LISTED_MAX).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}
