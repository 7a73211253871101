import { Alert, Anchor, Stack, Text, VisuallyHidden } from "@mantine/core";
import { IconChecks } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { useOpenApprovalsOf } from "../../api/operator-approvals";
import type { Approval } from "../../api/types";
import { approvalPath, approvalPhrase, isLinkToFetch, requesterName } from "./approval-labels";

/** The requests about a business that wait for somebody. */
export function PendingRequests({ businessId }: { businessId: string }) {
  const open = useOpenApprovalsOf(businessId);
  if (open.length === 0) return null;
  return (
    <Alert
      role="region"
      aria-label="Waiting requests"
      title="Waiting requests"
      color="blue"
      variant="light"
      icon={<IconChecks aria-hidden />}
      mb="md"
    >
      <Stack gap={6}>
        {open.map((approval) => (
          <Text key={approval.id} size="sm" style={{ overflowWrap: "anywhere" }}>
            {told(approval)}{" "}
            <Anchor component={Link} to={approvalPath(approval)} size="sm">
              Open<VisuallyHidden> the request: {approvalPhrase(approval)}</VisuallyHidden>
            </Anchor>
          </Text>
        ))}
      </Stack>
    </Alert>
  );
}

function told(approval: Approval): string {
  const what = approvalPhrase(approval);
  if (isLinkToFetch(approval)) return `Approved: ${what}. Show the link once.`;
  if (approval.state === "approved") return `Approved, not executed: ${what}.`;
  return `Waiting for a second person: ${what}, requested by ${requesterName(approval)}.`;
}
