import { Group, Paper, Text } from "@mantine/core";
import type { Subscription } from "../../api/subscription";
import { StatusBadge } from "../../components/status-badge";
import { type Words, wordsOf } from "../../format/words";
import { planName } from "./plan-name";

const STATES: Record<string, Words> = {
  required: { label: "Required", tone: "idle" },
  requested: { label: "Requested", tone: "info" },
  active: { label: "Active", tone: "good" },
  expired: { label: "Expired", tone: "bad" },
};

/** What is, and what happens next. */
export function Standing({ subscription }: { subscription: Subscription }) {
  const shown = subscription.status === "requested" ? subscription.requestedPlan : subscription.plan;
  return (
    <Paper p="md" mb="md" role="status" aria-label="Your subscription">
      <Group justify="space-between" gap="sm" mb={4}>
        <Text fw={600} size="md">
          {shown ? planName(shown) : "No plan yet"}
        </Text>
        <StatusBadge pill {...wordsOf(STATES, subscription.status)} />
      </Group>
      <Text c="dimmed">{nextStep(subscription)}</Text>
    </Paper>
  );
}

function nextStep({ status, plan, requestedPlan }: Subscription): string {
  if (status === "active" && requestedPlan) {
    return `You asked to change to ${planName(requestedPlan)}. ${planName(plan ?? "")} stays active until your delivery company has made the change.`;
  }
  if (status === "active") return "Your plan is active. There is nothing to do.";
  if (status === "requested") {
    return "You asked for this plan. Your delivery company activates it; this page shows it as soon as it has.";
  }
  if (status === "expired") {
    return "Your plan has ended, so live orders are refused. Ask for a plan to go on.";
  }
  return "Choose a plan below. Your delivery company then activates it. Nothing is charged from your wallet by asking.";
}
