import { Button, Group, List, Stack, Text, Textarea } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type ReactNode, useState } from "react";
import { Link } from "react-router-dom";
import { isApproval, useOpenApprovalsOf } from "../../api/operator-approvals";
import {
  type BusinessChange,
  type BusinessDetails,
  useChangeBusiness,
  useRefuseBusiness,
} from "../../api/operator-businesses";
import { useMay } from "../../api/operator-session";
import { CallButton } from "../../components/call-button";
import { ConfirmButton } from "../../components/confirm-button";
import { ErrorState } from "../../components/error-state";
import { Section } from "../../components/section";
import { StatusBadge } from "../../components/status-badge";
import { type StatusLabel, statusLabel } from "../../format/status-label";
import { planName } from "../subscription/plan-name";
import { approvalPath, notifySent } from "./approval-labels";
import classes from "./business.module.css";
import { businessStatus, MISSING_ITEMS, SUBSCRIPTION_STATES } from "./business-labels";

const REASON_CHARS_MAX = 500;

/** The conditions for live orders, and the operator's actions. */
export function BusinessStatus({ business }: { business: BusinessDetails }) {
  const mayChange = useMay("change_businesses");
  return (
    <Section
      title="Status"
      description={mayChange && "Changes take effect within seconds."}
      actions={
        <StatusBadge
          pill
          tone={business.unlocked ? "good" : "idle"}
          label={business.unlocked ? "Live orders unlocked" : "Live orders locked"}
        />
      }
      flush
    >
      <StatusRow business={business} />
      <SubscriptionRow business={business} />
      <LiveAccessRow business={business} />
      <RefusalRow business={business} />
      {!business.unlocked && !business.closed && <Missing business={business} />}
    </Section>
  );
}

/** The actions of one row. An error appears below the row, or in the confirmation dialog if there was one. */
function useActs({ id }: BusinessDetails) {
  const confirmed = useChangeBusiness(id);
  const unconfirmed = useChangeBusiness(id);
  const notify = (done: string) => (given: object) =>
    isApproval(given) ? notifySent(given) : notifications.show({ message: done });
  return {
    /** After confirmation. */
    act: (body: BusinessChange, done: string) => confirmed.mutateAsync(body).then(notify(done)),
    /** Without confirmation. */
    now: (body: BusinessChange, done: string) =>
      void unconfirmed.mutateAsync(body).then(notify(done), () => undefined),
    isPending: unconfirmed.isPending,
    error: unconfirmed.error,
  };
}

function StatusRow({ business }: { business: BusinessDetails }) {
  const { act, now, isPending, error } = useActs(business);
  const { status, name } = business;
  const [reason, setReason] = useState("");
  const suspend = () => {
    const change = { status: "suspended", reason: reason.trim() || undefined };
    return act(change, `${name} is suspended.`).then(() => setReason(""));
  };
  return (
    <Row name="Business" {...businessStatus(business)} error={error}>
      {business.closed ? null : status === "active" ? (
        <ConfirmButton
          title={`Suspend ${name}?`}
          description={
            <Stack>
              New live orders are rejected immediately. Orders in progress continue, and test mode keeps
              working. Owners with a confirmed address get an e-mail.
              <Textarea
                label="Reason"
                description="Its owners read it in the e-mail and in their audit log."
                maxLength={REASON_CHARS_MAX}
                autosize
                minRows={2}
                value={reason}
                onChange={(event) => setReason(event.currentTarget.value)}
              />
            </Stack>
          }
          confirm="Suspend"
          onConfirm={suspend}
        >
          Suspend
        </ConfirmButton>
      ) : status === "suspended" ? (
        <LiftSuspension business={business} onLift={() => act({ status: "active" }, `${name} is active.`)} />
      ) : (
        <CallButton
          size="xs"
          loading={isPending}
          onClick={() => now({ status: "active" }, `${name} is active.`)}
        >
          Approve
        </CallButton>
      )}
    </Row>
  );
}

interface LiftSuspensionProps {
  business: BusinessDetails;
  onLift: () => Promise<unknown>;
}

function LiftSuspension({ business, onLift }: LiftSuspensionProps) {
  const waiting = useOpenApprovalsOf(business.id).find(({ kind }) => kind === "lift_suspension");
  if (waiting) {
    return (
      <Button component={Link} size="xs" variant="default" to={approvalPath(waiting)}>
        Lift requested: open
      </Button>
    );
  }
  return (
    <ConfirmButton
      variant="filled"
      title={`Lift the suspension of ${business.name}?`}
      description="The business becomes active again, and can place live orders if nothing else is missing. Owners with a confirmed address get an e-mail."
      confirm="Lift suspension"
      isGain
      onConfirm={onLift}
    >
      Lift suspension
    </ConfirmButton>
  );
}

function SubscriptionRow({ business }: { business: BusinessDetails }) {
  const { act, now, isPending, error } = useActs(business);
  const { subscription, plan, requestedPlan } = business;
  const isActive = subscription === "active";
  const wanted = requestedPlan ?? (isActive ? null : plan);
  const end = (
    <ConfirmButton
      title={isActive ? "End the subscription?" : "Decline the request?"}
      description={
        isActive
          ? "New live orders are rejected immediately, until a subscription is active again."
          : "The business can request a plan again."
      }
      confirm={isActive ? "End subscription" : "Decline"}
      onConfirm={() =>
        act({ subscription: "inactive" }, isActive ? "Subscription ended." : "Request declined.")
      }
    >
      {isActive ? "End subscription" : "Decline"}
    </ConfirmButton>
  );
  return (
    <Row
      name="Subscription"
      {...statusLabel(SUBSCRIPTION_STATES, subscription)}
      hint={
        requestedPlan
          ? `${plan && isActive ? `${planName(plan)}, requested:` : "Requested:"} ${planName(requestedPlan)}`
          : plan && planName(plan)
      }
      error={error}
    >
      {(wanted || subscription === "required") && (
        <CallButton
          size="xs"
          variant={wanted ? "filled" : "default"}
          loading={isPending}
          onClick={() => now({ subscription: "active", plan: wanted }, "Subscription activated.")}
        >
          {wanted ? `Activate ${planName(wanted)}` : "Activate without a plan"}
        </CallButton>
      )}
      {(isActive || subscription === "requested") && end}
    </Row>
  );
}

function LiveAccessRow({ business }: { business: BusinessDetails }) {
  const { act, error } = useActs(business);
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
          key="withdraw"
          title="Withdraw live access?"
          description="New live orders are rejected immediately. Orders in progress continue."
          confirm="Withdraw"
          onConfirm={() => act({ liveAccess: "inactive" }, "Live access withdrawn.")}
        >
          Withdraw
        </ConfirmButton>
      ) : business.closing ? null : (
        <ConfirmButton
          key="grant"
          variant="filled"
          title={`Grant live access to ${business.name}?`}
          description="The business can create Live keys and place real deliveries, if nothing else is missing. Owners with a confirmed address get an e-mail."
          confirm="Grant live access"
          isGain
          onConfirm={() => act({ liveAccess: "active" }, "Live access granted.")}
        >
          Grant live access
        </ConfirmButton>
      )}
    </Row>
  );
}

/** Of the approval, or of live access, while the business waits for one of them. Nothing is refused during its closing. */
function RefusalRow({ business }: { business: BusinessDetails }) {
  const refuse = useRefuseBusiness(business.id);
  const [reason, setReason] = useState("");
  const { status, liveAccess, refusal, closing } = business;
  const waits = status === "inactive" || (status === "active" && liveAccess !== "active");
  if (!waits || closing) return null;
  const label = refusal?.askedAgainAt ? "Asked again" : refusal ? "Refused" : "Not refused";
  return (
    <Row
      name="Refusal"
      label={label}
      tone={refusal ? "warn" : "idle"}
      hint={refusal && <RefusalTexts refusal={refusal} />}
      error={null}
    >
      <ConfirmButton
        title={`Refuse ${business.name}?`}
        description={
          <Stack>
            It cannot place live orders, and leaves the new sign-ups and the requested plans until it asks
            again. Owners with a confirmed address get an e-mail.
            <Textarea
              label="Reason"
              description="Its owners read it on their overview and in the e-mail."
              maxLength={REASON_CHARS_MAX}
              autosize
              minRows={2}
              required
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
          </Stack>
        }
        confirm="Refuse"
        onConfirm={() => refuse.mutateAsync(reason.trim()).then(() => setReason(""))}
      >
        {refusal ? "Refuse again" : "Refuse"}
      </ConfirmButton>
    </Row>
  );
}

function RefusalTexts({ refusal: { reason, note } }: { refusal: NonNullable<BusinessDetails["refusal"]> }) {
  if (!note) return reason;
  return (
    <>
      {reason}
      <br />
      Their message: {note}
    </>
  );
}

interface RowProps extends StatusLabel {
  name: string;
  hint?: ReactNode;
  error: unknown;
  children: ReactNode;
}

function Row({ name, label, tone, hint, error, children }: RowProps) {
  const mayChange = useMay("change_businesses");
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
      {mayChange && <Group gap="xs">{children}</Group>}
      {error ? (
        <div style={{ flexBasis: "100%" }}>
          <ErrorState error={error} title="The change failed" />
        </div>
      ) : null}
    </section>
  );
}

function Missing({ business }: { business: BusinessDetails }) {
  return (
    <Stack gap={6} className={classes.missing}>
      <Text fw={500}>Missing for live orders</Text>
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
