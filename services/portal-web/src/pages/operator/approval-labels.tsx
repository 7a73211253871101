import { Anchor } from "@mantine/core";
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

/** Long enough to reach the link by keyboard. */
const SENT_SHOWN_MS = 15_000;

/** What was requested. */
export function approvalTitle(approval: Approval): string {
  switch (approval.kind) {
    case "credit":
      return `Credit ${formatPaise(approval.parameters.amountPaise)}`;
    case "debit":
      return `${approval.parameters.reverses ? "Take back" : "Debit"} ${formatPaise(approval.parameters.amountPaise)}`;
    case "raise_limit":
      return limitChange(approval.parameters.creditsAbovePaise);
    case "lift_suspension":
      return "Lift suspension";
    case "issue_reset_link":
      return "Create reset link";
  }
}

function limitChange(abovePaise: number | null): string {
  return abovePaise === null
    ? "Remove the limit of approvals"
    : `Raise the limit of approvals to ${formatPaise(abovePaise)}`;
}

/** The credits and debits that need an approval. */
export function coveredCredits(abovePaise: number): string {
  return abovePaise === 0 ? "all credits and debits" : `credits and debits above ${formatPaise(abovePaise)}`;
}

/** Whose requests a person cannot approve. The rule for tokens has no end. */
export const RELATED_RULE =
  "For 7 days after one person invites another, changes their role or resets their log-in, neither can approve the other’s requests; a chain of such steps counts too.";

export function requesterName({ requestedBy }: Approval): string {
  return requestedBy.type === "configuration" ? "Installation token" : requestedBy.name;
}

/** The same within a sentence. */
export function approvalPhrase(approval: Approval): string {
  switch (approval.kind) {
    case "credit":
      return `credit of ${formatPaise(approval.parameters.amountPaise)}`;
    case "debit":
      return `debit of ${formatPaise(approval.parameters.amountPaise)}`;
    case "raise_limit":
      return "change of the limit";
    case "lift_suspension":
      return "end of the suspension";
    case "issue_reset_link":
      return "reset link for a user";
  }
}

export function approvalPath({ id }: Pick<Approval, "id">): string {
  return `/operator/approvals/${id}`;
}

/** Whether this person must still fetch the approved link. */
export function isLinkToFetch({ kind, state, yours }: Approval): boolean {
  return kind === "issue_reset_link" && state === "approved" && yours;
}

/** Whether another request or call had moved the money of the same reference. */
export function isAlreadyBooked({ outcome }: Approval): boolean {
  return outcome === "already_booked";
}

/** The status as it concerns this person. */
export function approvalState(approval: Approval): StatusLabel {
  if (isAlreadyBooked(approval)) return { label: "Nothing moved: already booked", tone: "warn" };
  if (isLinkToFetch(approval)) return { label: "Approved: show the link once", tone: "warn" };
  return APPROVAL_STATES[approval.state];
}

export function notifySent(approval: Approval) {
  notifications.show({
    message: (
      <>
        Sent for approval. Another person must approve it. {/* Notifications are outside the router. */}
        <Anchor href={approvalPath(approval)} size="sm">
          Open the request
        </Anchor>
      </>
    ),
    autoClose: SENT_SHOWN_MS,
  });
}
