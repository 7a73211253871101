import { Group, Paper, Text } from "@mantine/core";
import type { Subscription } from "../../api/subscription";
import { StatusBadge } from "../../components/status-badge";
import { type StatusLabel, statusLabel } from "../../format/status-label";
import { planName } from "./plan-name";

const STATES: Record<string, StatusLabel> = {
  required: { label: "Required", tone: "idle" },
  requested: { label: "Requested", tone: "info" },
  active: { label: "Active", tone: "good" },
  expired: { label: "Expired", tone: "bad" },
};

/** The subscription, and the next step. */
export function SubscriptionStatus({ subscription }: { subscription: Subscription }) {
  const shown = subscription.status === "requested" ? subscription.requestedPlan : subscription.plan;
  return (
    <Paper p="md" mb="md" role="status" aria-label="Your subscription">
      <Group justify="space-between" gap="sm" mb={4}>
        <Text fw={600} size="md">
          {shown ? planName(shown) : unnamed(subscription)}
        </Text>
        <StatusBadge pill {...statusLabel(STATES, subscription.status)} />
      </Group>
      <Text c="dimmed">{nextStep(subscription)}</Text>
    </Paper>
  );
}

/** A delivery company can activate a subscription without a plan. */
function unnamed({ status }: Subscription): string {
  if (status === "active") return "Active without a plan";
  return status === "expired" ? "Subscription expired" : "No plan yet";
}

function nextStep({ status, plan, requestedPlan }: Subscription): string {
  if (status === "active" && requestedPlan) {
    return plan
      ? `You requested a change to ${planName(requestedPlan)}. ${planName(plan)} stays active until your delivery company makes the change.`
      : `You requested ${planName(requestedPlan)}. Your subscription stays active without a plan until your delivery company makes the change.`;
  }
  if (status === "active" && !plan) {
    return "Your delivery company activated your subscription without a plan. Live orders need no plan; you can request one below.";
  }
  if (status === "active") return "Your plan is active. No action is needed.";
  if (status === "requested") {
    return "You requested this plan. Your delivery company activates it. This page updates automatically.";
  }
  if (status === "expired") {
    return "Your subscription has expired, so live orders are rejected. Request a plan to continue.";
  }
  return "Request a plan below. Your delivery company then activates it. A request does not charge your wallet.";
}
