import { notifications } from "@mantine/notifications";
import type { ApprovalState } from "../../api/operator-approvals";
import type { Approval } from "../../api/types";
import { formatPaise } from "../../format/money";
import type { StatusLabel } from "../../format/status-label";

export const APPROVAL_STATES: Record<ApprovalState, StatusLabel> = {
  pending: { label: "Waiting", tone: "info" },
  approved: { label: "Approved, not executed", tone: "warn" },
  executed: { label: "Executed", tone: "good" },
  failed: { label: "Failed", tone: "bad" },
  rejected: { label: "Rejected", tone: "bad" },
  withdrawn: { label: "Withdrawn", tone: "idle" },
  expired: { label: "Expired", tone: "idle" },
};

/** What was requested. */
export function approvalTitle(approval: Approval): string {
  switch (approval.kind) {
    case "credit":
      return `Credit ${formatPaise(approval.parameters.amountPaise)}`;
    case "lift_suspension":
      return "Lift suspension";
    case "issue_reset_link":
      return "Issue reset link";
  }
}

export function requesterName({ requestedBy }: Approval): string {
  return requestedBy.type === "configuration" ? "Token of the settings" : requestedBy.name;
}

export function notifySent() {
  notifications.show({ message: "Sent for approval. Another person must approve it." });
}
