import { useBusinessAuditLog } from "../../api/operator-businesses";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { Section } from "../../components/section";
import { AuditTable } from "../account/audit-table";

/** Who did what in the name of the business, and what the operator did to it. */
export function BusinessAuditLog({ businessId }: { businessId: string }) {
  const log = useBusinessAuditLog(businessId);
  return (
    <Section title="Audit log" description="Newest first. Secrets and addresses never stand in it." flush>
      {log.error && log.rows.length === 0 ? (
        <div style={{ padding: "0 16px 16px" }}>
          <ErrorState error={log.error} title="The log cannot be shown" onRetry={() => log.refetch()} />
        </div>
      ) : (
        <AuditTable
          entries={log.rows}
          isLoading={log.isPending}
          empty={<EmptyState title="Nothing yet">What is done for this business appears here.</EmptyState>}
        />
      )}
      <LoadMore
        hasMore={log.hasNextPage}
        isLoading={log.isFetchingNextPage}
        onMore={() => log.fetchNextPage()}
        shown={log.rows.length}
      />
    </Section>
  );
}
