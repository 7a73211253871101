import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type Subscription, useAskForPlan } from "../../api/subscription";
import { useMay } from "../../app/session";
import { ErrorState } from "../../components/error-state";
import { Section } from "../../components/section";
import { StatusBadge } from "../../components/status-badge";
import { planName } from "./plan-name";
import classes from "./plans.module.css";

/** What may be asked for. Prices and terms are between the business and its delivery company. */
export function Plans({ subscription }: { subscription: Subscription }) {
  const mayAsk = useMay("owner");
  const ask = useAskForPlan();
  const askFor = (plan: string) =>
    ask.mutate(plan, { onSuccess: (now) => notifications.show({ message: outcome(now, plan) }) });
  return (
    <Section
      title="Plans"
      description="Prices and what is included are agreed with your delivery company."
      flush
    >
      {ask.error && (
        <div className={classes.plan}>
          <ErrorState error={ask.error} title="The plan was not asked for" />
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
                mayAsk={mayAsk}
                isPending={ask.isPending && ask.variables === plan}
                onAsk={() => askFor(plan)}
              />
            </Group>
          </li>
        ))}
      </ul>
      {!mayAsk && (
        <Text c="dimmed" className={classes.plan}>
          Only an owner of your business can ask for a plan.
        </Text>
      )}
    </Section>
  );
}

function outcome({ requestedPlan }: Subscription, plan: string): string {
  return requestedPlan === plan ? `You asked for ${planName(plan)}.` : `You keep ${planName(plan)}.`;
}

interface ActProps {
  plan: string;
  subscription: Subscription;
  mayAsk: boolean;
  isPending: boolean;
  onAsk: () => void;
}

function Act({ plan, subscription, mayAsk, isPending, onAsk }: ActProps) {
  const { status, requestedPlan } = subscription;
  const isActive = status === "active" && subscription.plan === plan;
  if (requestedPlan === plan) return <StatusBadge tone="info" label="Requested" />;
  if (isActive && !requestedPlan) return <StatusBadge tone="good" label="Active" />;
  if (!mayAsk) return null;
  const changes = status === "active" && subscription.plan;
  const words = isActive ? "Keep this one" : changes ? "Change to this" : "Ask for this";
  return (
    <Button
      variant="default"
      size="xs"
      loading={isPending}
      onClick={onAsk}
      aria-label={`${words}: ${planName(plan)}`}
    >
      {words}
    </Button>
  );
}
