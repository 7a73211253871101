import { Group, NativeSelect } from "@mantine/core";
import { IconChecks } from "@tabler/icons-react";
import { useSearchParams } from "react-router-dom";
import { type ApprovalState, useApprovals } from "../../api/operator-approvals";
import { useOperatorSession } from "../../api/operator-session";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { ListFrame } from "../../components/list-section";
import { PageHeader } from "../../components/page-header";
import { joinList } from "../../format/service-names";
import { choices } from "../../format/status-label";
import { approvalColumns } from "./approval-columns";
import { APPROVAL_STATES, coveredCredits, RELATED_RULE } from "./approval-labels";
import { ApprovalLimit } from "./approval-limit";

/** Requests that wait for a second person, and what became of them. */
export function Component() {
  const [search, setSearch] = useSearchParams();
  const state = search.get("state") ?? undefined;
  const policyText = usePolicyText();
  const filter = (next?: string) => setSearch(next ? { state: next } : {}, { replace: true });
  return (
    <>
      <PageHeader
        title="Approvals"
        description={`Actions that a second person must approve before they happen. You can approve or reject requests of others. ${RELATED_RULE} Nobody can approve a request of a token that they created or rotated. While nobody else can decide, a request waits; it expires after 24 hours.`}
      />
      <ApprovalLimit />
      <Group gap="xs" mb="sm">
        <NativeSelect
          aria-label="Status"
          value={state ?? ""}
          onChange={(event) => filter(event.currentTarget.value)}
          data={[{ value: "", label: "All statuses" }, ...choices(APPROVAL_STATES)]}
        />
      </Group>
      <ListFrame
        label="Approvals"
        list={useApprovals(state as ApprovalState | undefined)}
        failed="The approvals could not be loaded"
        columns={approvalColumns}
        rowKey={(approval) => approval.id}
        empty={
          state ? (
            <NoMatches icon={<IconChecks size={26} />} onClear={() => filter()}>
              Try another status.
            </NoMatches>
          ) : (
            <EmptyState icon={<IconChecks size={26} />} title="No requests yet">
              {policyText}
            </EmptyState>
          )
        }
      />
    </>
  );
}

/** Which actions need an approval. */
function usePolicyText(): string {
  const policy = useOperatorSession().data?.approvals;
  if (!policy) return "The settings of the installation and the limit decide which actions need an approval.";
  const { creditsAbovePaise, liftSuspension, resetLinks } = policy;
  const covered = [
    typeof creditsAbovePaise === "number" && coveredCredits(creditsAbovePaise),
    liftSuspension && "the end of a suspension",
    resetLinks && "reset links for users",
  ].filter((one) => typeof one === "string");
  if (covered.length === 0) return "No action needs an approval now.";
  return `These actions need an approval: ${joinList(covered)}.`;
}
