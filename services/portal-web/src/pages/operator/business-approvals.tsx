import { useApprovals } from "../../api/operator-approvals";
import type { Approval } from "../../api/types";
import type { Column } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { ListSection } from "../../components/list-section";
import { approvalColumns } from "./approval-columns";

const COLUMNS: Column<Approval>[] = [
  ...approvalColumns,
  {
    key: "reason",
    header: "Reason",
    render: ({ reason }) => <span style={{ overflowWrap: "anywhere" }}>{reason ?? "–"}</span>,
  },
];

/** What a second person decided, or has to decide, about a business. */
export function BusinessApprovals({ businessId }: { businessId: string }) {
  return (
    <ListSection
      title="Approvals"
      description="Requests about this business that need a second person, newest first, with the reason of the decision."
      list={useApprovals(undefined, businessId)}
      failed="The approvals could not be loaded"
      columns={COLUMNS}
      rowKey={(approval) => approval.id}
      empty={<EmptyState title="No requests yet">Requests about this business appear here.</EmptyState>}
    />
  );
}
