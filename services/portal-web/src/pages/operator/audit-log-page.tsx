import { Anchor, Group, NativeSelect, Switch, Text } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { type OperatorAuditFilter, useOperatorAuditLog } from "../../api/operator-access";
import type { OperatorAuditEntry } from "../../api/types";
import { AddressField } from "../../components/address-field";
import { InlineCode } from "../../components/code-block";
import type { Column } from "../../components/data-table";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { ExportLog } from "../../components/export-log";
import { ListFrame } from "../../components/list-section";
import { PageHeader } from "../../components/page-header";
import { PeriodFields } from "../../components/period-fields";
import { SearchField } from "../../components/search-field";
import { Time } from "../../components/time";
import { useUrlFilter } from "../../components/use-url-filter";
import { useValidPeriod } from "../../components/use-valid-period";
import { endOfDay, startOfDay } from "../../format/day";
import { actionLabel } from "../account/audit-actions";
import { DetailLines } from "../account/audit-section";
import { entryLines, entryTitle } from "../account/audit-texts";
import { BusinessField } from "./business-field";
import { OPERATOR_ACTIONS } from "./operator-actions";

interface Fields {
  actor?: string;
  action?: string;
  businessId?: string;
  address?: string;
  /** `shown`: also entries of reads. */
  reads?: string;
  /** Days, not times. */
  from?: string;
  to?: string;
}

const FIELDS = ["actor", "action", "businessId", "address", "reads", "from", "to"] as const;

/** What the operator's people and tokens did, and whose data they read. */
export function Component() {
  const { filter: fields, change, clear, count } = useUrlFilter<Fields>(FIELDS);
  const { from, to } = useValidPeriod(fields);
  const { actor, action, businessId, address, reads } = fields;
  const filter: OperatorAuditFilter = {
    actor,
    action,
    businessId,
    address,
    // An action that was chosen is shown, also a read.
    withoutReads: (!reads && !action) || undefined,
    since: startOfDay(from),
    until: endOfDay(to),
  };
  return (
    <>
      <PageHeader
        title="Audit log"
        description="What people and tokens of your company did, and whose data they read. Entries cannot be changed."
        actions={<ExportLog path="/v1/operator/audit-log" filter={filter} />}
      />
      <Filters fields={fields} onChange={change} />
      <ListFrame
        label="Audit log"
        list={useOperatorAuditLog(filter)}
        failed="The audit log could not be loaded"
        columns={COLUMNS}
        rowKey={(entry) => entry.id}
        showsCount
        empty={
          count > 0 ? (
            <NoMatches icon={<IconHistory size={26} />} onClear={clear}>
              Try another action, person, token, business, IP address or period.
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

function Filters({ fields, onChange }: { fields: Fields; onChange: (change: Fields) => void }) {
  return (
    <Group gap="xs" mb="sm" align="flex-start">
      <SearchField
        size="xs"
        label="Person or token"
        hasVisibleLabel
        placeholder="Exact e-mail or token name"
        value={fields.actor}
        onChange={(actor) => onChange({ actor })}
        style={{ flex: "1 1 16rem", maxWidth: "26rem" }}
      />
      <NativeSelect
        size="xs"
        label="Action"
        value={fields.action ?? ""}
        onChange={(event) => onChange({ action: event.currentTarget.value || undefined })}
        data={[{ value: "", label: "All actions" }, ...ACTIONS]}
      />
      <BusinessField value={fields.businessId} onBusiness={(businessId) => onChange({ businessId })} />
      <AddressField value={fields.address} onAddress={(address) => onChange({ address })} />
      <PeriodFields period={fields} onChange={onChange} />
      <Switch
        label="Show reads"
        mt={24}
        checked={fields.reads === "shown"}
        onChange={(event) => onChange({ reads: event.currentTarget.checked ? "shown" : undefined })}
      />
    </Group>
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
        <Text fw={500}>{title(entry)}</Text>
        <Subject entry={entry} />
      </>
    ),
  },
  { key: "actor", header: "Person or token", render: (entry) => <Actor entry={entry} /> },
  { key: "address", header: "IP address", render: (entry) => entry.address ?? "–" },
  { key: "details", header: "Details", render: (entry) => <DetailLines lines={entryLines(entry)} /> },
];

/** Changes of a business and of a discrepancy say what has changed. */
function title(entry: OperatorAuditEntry): string {
  if (["business.changed", "cash_difference.assigned"].includes(entry.action)) return entryTitle(entry);
  return OPERATOR_ACTIONS[entry.action] ?? actionLabel(entry.action);
}

function Subject({ entry }: { entry: OperatorAuditEntry }) {
  const { businessId, businessName, target } = entry;
  return (
    <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: "anywhere" }}>
      {target && target.id !== businessId && (
        <div>
          {target.label ?? (
            <span style={{ whiteSpace: "nowrap" }}>
              <InlineCode>{target.id}</InlineCode>
            </span>
          )}
        </div>
      )}
      {businessId && (
        <Anchor component={Link} to={`/operator/businesses/${businessId}`} size="xs">
          {businessName ?? businessId}
        </Anchor>
      )}
    </Text>
  );
}

const ACTORS: Record<string, string> = {
  configuration: "Installation token",
  command: "Command create-operator",
  unknown: "Unknown",
};

function Actor({ entry: { actor } }: { entry: OperatorAuditEntry }) {
  return <span style={{ overflowWrap: "anywhere" }}>{ACTORS[actor.type] ?? actor.name}</span>;
}
