import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { type AuditFilter, useAuditLog } from "../../api/audit-log";
import { NotForRole } from "../../app/not-for-role";
import { useMay } from "../../app/session";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { ExportLog } from "../../components/export-log";
import { AccountFrame } from "./account-frame";
import { AuditFilters } from "./audit-filters";
import { AuditSection } from "./audit-section";

export function Component() {
  const canRead = useMay("read_audit_log");
  return (
    <AccountFrame>
      {canRead ? <AuditLog /> : <NotForRole what="Only developers and owners can read the audit log." />}
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
  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <AuditSection
      log={useAuditLog(filter)}
      description="Who did what, newest first. Entries cannot be changed."
      actions={<ExportLog path="/v1/portal/audit-log" filter={filter} />}
      empty={
        isFiltered ? (
          <NoMatches icon={<IconHistory size={26} />} onClear={clear}>
            Try another action, user, IP address or period.
          </NoMatches>
        ) : (
          <EmptyState icon={<IconHistory size={26} />} title="No entries yet">
            Logins and changes to keys, webhooks, money and team are recorded here.
          </EmptyState>
        )
      }
    >
      <AuditFilters key={cleared} filter={filter} onChange={setFilter} />
    </AuditSection>
  );
}
