import { IconHistory } from "@tabler/icons-react";
import { type AuditFilter, useAuditLog } from "../../api/audit-log";
import { NotForRole } from "../../app/not-for-role";
import { useMay } from "../../app/session";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { ExportLog } from "../../components/export-log";
import { useUrlFilter } from "../../components/use-url-filter";
import { useValidPeriod } from "../../components/use-valid-period";
import { endOfDay, startOfDay } from "../../format/day";
import { AccountFrame } from "./account-frame";
import { type AuditFields, AuditFilters } from "./audit-filters";
import { AuditSection } from "./audit-section";

export function Component() {
  const canRead = useMay("read_audit_log");
  return (
    <AccountFrame>
      {canRead ? <AuditLog /> : <NotForRole what="Only developers and owners can read the audit log." />}
    </AccountFrame>
  );
}

const FIELDS = ["action", "userId", "address", "from", "to"] as const;

function AuditLog() {
  const { filter: fields, change, clear, count } = useUrlFilter<AuditFields>(FIELDS);
  const { from, to } = useValidPeriod(fields);
  const { action, userId, address } = fields;
  const filter: AuditFilter = { action, userId, address, since: startOfDay(from), until: endOfDay(to) };
  return (
    <AuditSection
      log={useAuditLog(filter)}
      linksOrders
      description="Who did what, newest first. Entries cannot be changed."
      actions={<ExportLog path="/v1/portal/audit-log" filter={filter} />}
      empty={
        count > 0 ? (
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
      <AuditFilters filter={fields} onChange={change} />
    </AuditSection>
  );
}
