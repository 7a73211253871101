import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "react-router-dom";
import type { Approval } from "../../api/types";
import type { Column } from "../../components/data-table";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { approvalPath, approvalState, approvalTitle, requesterName } from "./approval-labels";

/** The columns of a list of requests. */
export const approvalColumns: Column<Approval>[] = [
  {
    key: "request",
    header: "Request",
    lead: true,
    render: (approval) => (
      <div style={{ overflowWrap: "anywhere" }}>
        <Anchor component={Link} to={approvalPath(approval)} fw={500}>
          {approvalTitle(approval)}
        </Anchor>
        <Text size="xs" c="dimmed">
          {approval.businessName ?? approval.businessId}
        </Text>
      </div>
    ),
  },
  {
    key: "state",
    header: "Status",
    render: (approval) => (
      <Group gap="xs">
        <StatusBadge {...approvalState(approval)} />
        {approval.state === "pending" && approval.yours && <StatusBadge tone="idle" label="Yours" pill />}
      </Group>
    ),
  },
  {
    key: "by",
    header: "Requested by",
    render: (approval) => <span style={{ overflowWrap: "anywhere" }}>{requesterName(approval)}</span>,
  },
  { key: "at", header: "Requested", render: (approval) => <Time at={approval.requestedAt} relative /> },
];
