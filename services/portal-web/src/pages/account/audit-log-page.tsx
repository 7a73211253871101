import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { type AuditFilter, useAuditLog } from "../../api/audit-log";
import { useMay } from "../../app/session";
import { EmptyState, NothingFits } from "../../components/empty-state";
import { AccountFrame } from "./account-frame";
import { AuditFilters } from "./audit-filters";
import { AuditSection } from "./audit-section";
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
  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <AuditSection
      log={useAuditLog(filter)}
      description="Who did what, newest first. Nobody can change it."
      empty={
        isFiltered ? (
          <NothingFits icon={<IconHistory size={26} />} title="Nothing matches" onClear={clear}>
            No entry is as the filters want it.
          </NothingFits>
        ) : (
          <EmptyState icon={<IconHistory size={26} />} title="Nothing yet">
            Log-ins, keys, webhooks, money and team: each change is written here as it happens.
          </EmptyState>
        )
      }
    >
      <AuditFilters key={cleared} filter={filter} onChange={setFilter} />
    </AuditSection>
  );
}
