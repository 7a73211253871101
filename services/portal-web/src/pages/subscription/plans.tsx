import { Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type Subscription, useRequestPlan } from "../../api/subscription";
import { useMay } from "../../app/session";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";
import { Section } from "../../components/section";
import { StatusBadge } from "../../components/status-badge";
import { planName } from "./plan-name";
import classes from "./plans.module.css";

/** The plans that a business can request. Prices are agreed outside the portal. */
export function Plans({ subscription }: { subscription: Subscription }) {
  const canAsk = useMay("manage_money");
  const ask = useRequestPlan();
  const askFor = (plan: string) =>
    ask.mutate(plan, { onSuccess: (now) => notifications.show({ message: outcome(now, plan) }) });
  return (
    <Section title="Plans" description="Agree on prices and terms with your delivery company." flush>
      {ask.error && (
        <div className={classes.plan}>
          <ErrorState error={ask.error} title="The plan was not requested" />
        </div>
      )}
      <ul className={classes.plans}>
        {subscription.plans.map((plan) => (
          <li key={plan} className={classes.plan}>
            <Group justify="space-between" gap="sm" mih={30}>
              <Text fw={500}>{planName(plan)}</Text>
              <Act
                plan={plan}
                subscription={subscription}
                canAsk={canAsk}
                isPending={ask.isPending && ask.variables === plan}
                onAsk={() => askFor(plan)}
              />
            </Group>
          </li>
        ))}
      </ul>
      {!canAsk && (
        <Text c="dimmed" className={classes.plan}>
          Only users with the role owner or finance can request a plan.
        </Text>
      )}
    </Section>
  );
}

function outcome({ requestedPlan }: Subscription, plan: string): string {
  return requestedPlan === plan ? `You requested ${planName(plan)}.` : `You keep ${planName(plan)}.`;
}

interface ActProps {
  plan: string;
  subscription: Subscription;
  canAsk: boolean;
  isPending: boolean;
  onAsk: () => void;
}

function Act({ plan, subscription, canAsk, isPending, onAsk }: ActProps) {
  const { status, requestedPlan } = subscription;
  const isActive = status === "active" && subscription.plan === plan;
  if (requestedPlan === plan) return <StatusBadge tone="info" label="Requested" />;
  if (isActive && !requestedPlan) return <StatusBadge tone="good" label="Active" />;
  if (!canAsk) return null;
  const changes = status === "active" && subscription.plan;
  const words = isActive ? "Keep this plan" : changes ? "Change to this plan" : "Request this plan";
  return (
    <CallButton
      variant="default"
      size="xs"
      loading={isPending}
      onClick={onAsk}
      aria-label={`${words}: ${planName(plan)}`}
    >
      {words}
    </CallButton>
  );
}
