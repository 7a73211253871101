import { useBusinessAuditLog } from "../../api/operator-businesses";
import { EmptyState } from "../../components/empty-state";
import { AuditSection } from "../account/audit-section";

/** Who did what in the name of the business, and what the operator did to it. */
export function BusinessAuditLog({ businessId }: { businessId: string }) {
  return (
    <AuditSection
      log={useBusinessAuditLog(businessId)}
      description="Newest first. Secrets and addresses never stand in it."
      empty={<EmptyState title="Nothing yet">What is done for this business appears here.</EmptyState>}
    />
  );
}
