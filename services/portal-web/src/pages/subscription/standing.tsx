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
          {shown ? planName(shown) : unnamed(subscription)}
        </Text>
        <StatusBadge pill {...wordsOf(STATES, subscription.status)} />
      </Group>
      <Text c="dimmed">{nextStep(subscription)}</Text>
    </Paper>
  );
}

/** A delivery company can activate a subscription without a plan. */
function unnamed({ status }: Subscription): string {
  if (status === "active") return "Active without a plan";
  return status === "expired" ? "Your subscription has ended" : "No plan yet";
}

function nextStep({ status, plan, requestedPlan }: Subscription): string {
  if (status === "active" && requestedPlan) {
    return plan
      ? `You asked to change to ${planName(requestedPlan)}. ${planName(plan)} stays active until your delivery company has made the change.`
      : `You asked for ${planName(requestedPlan)}. Your subscription stays active meanwhile, without a plan, until your delivery company has made the change.`;
  }
  if (status === "active" && !plan) {
    return "Your delivery company has activated your subscription and named no plan. Live orders need no more; you can ask for a plan below.";
  }
  if (status === "active") return "Your plan is active. There is nothing to do.";
  if (status === "requested") {
    return "You asked for this plan. Your delivery company activates it; this page shows it as soon as it has.";
  }
  if (status === "expired") {
    return "Your subscription has ended, so live orders are refused. Ask for a plan to go on.";
  }
  return "Choose a plan below. Your delivery company then activates it. Nothing is charged from your wallet by asking.";
}
