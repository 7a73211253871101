import { Button, Group, List, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import {
  type Business,
  type BusinessChange,
  type BusinessDetails,
  useChangeBusiness,
} from "../../api/operator-businesses";
import { ConfirmButton } from "../../components/confirm-button";
import { ErrorState } from "../../components/error-state";
import { Section } from "../../components/section";
import { StatusBadge } from "../../components/status-badge";
import { type Words, wordsOf } from "../../format/words";
import { planName } from "../subscription/plan-name";
import classes from "./business.module.css";
import { BUSINESS_STATUSES, MISSING_ITEMS, SUBSCRIPTION_STATES } from "./business-words";

/** What decides about live orders, and what the operator may do about it. */
export function BusinessStanding({ business }: { business: BusinessDetails }) {
  return (
    <Section
      title="Standing"
      description="Changes take effect within seconds."
      actions={
        <StatusBadge
          pill
          tone={business.unlocked ? "good" : "idle"}
          label={business.unlocked ? "Live orders are open" : "Live orders are locked"}
        />
      }
      flush
    >
      <StatusRow business={business} />
      <SubscriptionRow business={business} />
      <LiveAccessRow business={business} />
      {!business.unlocked && <Missing business={business} />}
    </Section>
  );
}

/** The changes of one row: what failed at once is shown below it, and what failed after a question in the question. */
function useActs({ id }: Business) {
  const asked = useChangeBusiness(id);
  const atOnce = useChangeBusiness(id);
  const tell = (done: string) => () => notifications.show({ message: done });
  return {
    /** After a question. */
    act: (body: BusinessChange, done: string) => asked.mutateAsync(body).then(tell(done)),
    /** At once. */
    now: (body: BusinessChange, done: string) =>
      void atOnce.mutateAsync(body).then(tell(done), () => undefined),
    isPending: atOnce.isPending,
    error: atOnce.error,
  };
}

function StatusRow({ business }: { business: Business }) {
  const { act, now, isPending, error } = useActs(business);
  const { status, name } = business;
  return (
    <Row name="Business" {...wordsOf(BUSINESS_STATUSES, status)} error={error}>
      {status === "active" ? (
        <ConfirmButton
          title={`Suspend ${name}?`}
          description="Their live orders are refused at once. Orders that are on their way go on, and test mode keeps working."
          confirm="Suspend"
          onConfirm={() => act({ status: "suspended" }, `${name} is suspended.`)}
        >
          Suspend
        </ConfirmButton>
      ) : (
        <Button size="xs" loading={isPending} onClick={() => now({ status: "active" }, `${name} is active.`)}>
          {status === "suspended" ? "Lift the suspension" : "Approve"}
        </Button>
      )}
    </Row>
  );
}

function SubscriptionRow({ business }: { business: Business }) {
  const { act, now, isPending, error } = useActs(business);
  const { subscription, plan, requestedPlan } = business;
  const isActive = subscription === "active";
  const wanted = requestedPlan ?? (isActive ? null : plan);
  const end = (
    <ConfirmButton
      title={isActive ? "End the subscription?" : "Decline the request?"}
      description={
        isActive
          ? "Live orders are refused at once, until a subscription is active again."
          : "The business can ask for a plan again."
      }
      confirm={isActive ? "End it" : "Decline"}
      onConfirm={() =>
        act({ subscription: "inactive" }, isActive ? "The subscription is ended." : "Declined.")
      }
    >
      {isActive ? "End subscription" : "Decline"}
    </ConfirmButton>
  );
  return (
    <Row
      name="Subscription"
      {...wordsOf(SUBSCRIPTION_STATES, subscription)}
      hint={
        requestedPlan
          ? `${plan && isActive ? `${planName(plan)}; asks` : "Asks"} for ${planName(requestedPlan)}`
          : plan && planName(plan)
      }
      error={error}
    >
      {(wanted || subscription === "required") && (
        <Button
          size="xs"
          variant={wanted ? "filled" : "default"}
          loading={isPending}
          onClick={() => now({ subscription: "active", plan: wanted }, "The subscription is active.")}
        >
          {wanted ? `Activate ${planName(wanted)}` : "Activate without a plan"}
        </Button>
      )}
      {(isActive || subscription === "requested") && end}
    </Row>
  );
}

function LiveAccessRow({ business }: { business: Business }) {
  const { act, now, isPending, error } = useActs(business);
  const isGranted = business.liveAccess === "active";
  return (
    <Row
      name="Live access"
      label={isGranted ? "Granted" : "Not granted"}
      tone={isGranted ? "good" : "idle"}
      error={error}
    >
      {isGranted ? (
        <ConfirmButton
          title="Withdraw live access?"
          description="Their live orders are refused at once. Orders that are on their way go on."
          confirm="Withdraw"
          onConfirm={() => act({ liveAccess: "inactive" }, "Live access is withdrawn.")}
        >
          Withdraw
        </ConfirmButton>
      ) : (
        <Button
          size="xs"
          loading={isPending}
          onClick={() => now({ liveAccess: "active" }, "Live access is granted.")}
        >
          Grant live access
        </Button>
      )}
    </Row>
  );
}

interface RowProps extends Words {
  name: string;
  hint?: ReactNode;
  error: unknown;
  children: ReactNode;
}

function Row({ name, label, tone, hint, error, children }: RowProps) {
  return (
    <section className={classes.row} aria-label={name}>
      <Text fw={500} className={classes.name}>
        {name}
      </Text>
      <div className={classes.state} role="status" aria-label={name}>
        <StatusBadge tone={tone} label={label} />
        {hint && (
          <Text size="xs" c="dimmed">
            {hint}
          </Text>
        )}
      </div>
      <Group gap="xs">{children}</Group>
      {error ? (
        <div style={{ flexBasis: "100%" }}>
          <ErrorState error={error} title="That was not changed" />
        </div>
      ) : null}
    </section>
  );
}

function Missing({ business }: { business: Business }) {
  return (
    <Stack gap={6} className={classes.missing}>
      <Text fw={500}>What live orders wait for</Text>
      <List size="sm" c="dimmed">
        {business.missing.map((code) => (
          <List.Item key={code}>{missingItem(code, business.status)}</List.Item>
        ))}
      </List>
    </Stack>
  );
}

function missingItem(code: string, status: string): string {
  if (code === "business_active" && status === "suspended") return "The business is suspended";
  return MISSING_ITEMS[code] ?? code;
}
