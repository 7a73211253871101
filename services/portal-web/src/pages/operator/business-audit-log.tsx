import { useBusinessAuditLog } from "../../api/operator-businesses";
import { EmptyState } from "../../components/empty-state";
import { AuditSection } from "../account/audit-section";

/** Actions of the business's users and of the operator. */
export function BusinessAuditLog({ businessId }: { businessId: string }) {
  return (
    <AuditSection
      log={useBusinessAuditLog(businessId)}
      description="Newest first. It contains e-mail addresses and IP addresses, but no secrets and no postal addresses."
      empty={<EmptyState title="No entries yet">Actions for this business appear here.</EmptyState>}
    />
  );
}
