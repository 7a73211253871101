import { Alert, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useState } from "react";
import { type Decider, type Decision, OWN_DECIDER, useDecide } from "../../api/after-failure";
import { ApiFailure } from "../../api/failure";
import type { Order } from "../../api/orders";
import { ConfirmButton } from "../../components/confirm-button";
import { Time } from "../../components/time";
import { dayInWords, failureReason, reattemptFee, requestedBy } from "../../format/failure-labels";
import { formatPaise } from "../../format/money";
import { sentence } from "../../format/order-labels";
import { awaitsDecision } from "./next-events";
import { dayError, ReattemptFields } from "./reattempt-fields";

interface AfterFailureProps<One extends Order> {
  order: One;
  canDecide: boolean;
  decider?: Decider<One>;
}

/** Why a delivery failed, what was asked for, and what can be asked for. */
export function AfterFailure<One extends Order>({
  order,
  canDecide,
  decider = OWN_DECIDER,
}: AfterFailureProps<One>) {
  if (order.status !== "failed") return null;
  const reason = [
    order.reasonCode && failureReason(order.reasonCode),
    order.reason && sentence(order.reason),
  ];
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconAlertTriangle aria-hidden />}
      title="Delivery failed"
      mb="md"
    >
      <Stack gap="xs" align="flex-start">
        {reason.some(Boolean) ? (
          <Text>{reason.filter(Boolean).join(": ")}</Text>
        ) : (
          order.personalDataMasked && <Text>Your role does not show the reason in the driver’s words.</Text>
        )}
        <Asked order={order} canDecide={canDecide} />
        {order.reattemptFeesPaise > 0 && (
          <Text>Attempts that began cost {formatPaise(order.reattemptFeesPaise)}. It is not refunded.</Text>
        )}
        {canDecide && awaitsDecision(order) && !order.reattemptPossible && !order.returnRequestedAt && (
          <Text>{whyNotAgain(order)}</Text>
        )}
        {canDecide && awaitsDecision(order) && (
          <Group gap="xs">
            {order.reattemptPossible && <Reattempt order={order} decider={decider} />}
            {!order.returnRequestedAt && <RequestReturn order={order} decider={decider} />}
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

function whyNotAgain({ personalDataErasedAt }: Order): string {
  if (personalDataErasedAt) return "Another attempt is not possible: the address is erased.";
  return "Another attempt is not possible: it had all of its attempts.";
}

function Asked({ order, canDecide }: { order: Order; canDecide: boolean }) {
  const { reattempt, returnRequestedAt } = order;
  const by = requestedBy(reattempt?.requestedBy ?? order.returnRequestedBy);
  if (reattempt) {
    return (
      <>
        <Text>
          Attempt {reattempt.number} is requested
          {reattempt.on ? ` for ${dayInWords(reattempt.on)}` : " as soon as possible"}
          {reattempt.note ? `: ${reattempt.note}` : "."}
        </Text>
        {by && (
          <Text>
            Requested <Time at={reattempt.requestedAt} /> {by}.
          </Text>
        )}
        {reattempt.feePaise > 0 && <Text>{reattemptFee(reattempt.feePaise, order.reattemptFeesPaise)}</Text>}
      </>
    );
  }
  if (returnRequestedAt) {
    return (
      <Text>
        The return was requested <Time at={returnRequestedAt} />
        {by && ` ${by}`}.
      </Text>
    );
  }
  if (awaitsDecision(order)) {
    return (
      <Text>
        The fleet has the parcel.{" "}
        {canDecide
          ? "Decide what happens next."
          : "Your role cannot decide what happens next. An owner, a developer or support of your team can."}
      </Text>
    );
  }
  return <Text>It failed before the pickup. A new order can have it delivered.</Text>;
}

interface RequestProps<One extends Order> {
  order: One;
  decider: Decider<One>;
}

/** The attempt that is requested already, with which its change begins. */
function standing({ reattempt }: Order): Decision {
  return { action: "reattempt", date: reattempt?.on ?? undefined, note: reattempt?.note ?? undefined };
}

function Reattempt<One extends Order>({ order, decider }: RequestProps<One>) {
  // The order with which the dialog was opened. A colleague’s decision may refresh the page meanwhile.
  const [seen, setSeen] = useState(order);
  const decide = useDecide(decider, seen);
  const [decision, setDecision] = useState(() => standing(order));
  const open = () => {
    setSeen(order);
    setDecision(standing(order));
  };
  const request = async () => {
    const wrongDay = dayError(decision);
    if (wrongDay) throw new ApiFailure(400, { message: wrongDay });
    await decide.mutateAsync(decision);
  };
  return (
    <ConfirmButton
      title={seen.reattempt ? "Change the attempt" : "Attempt this delivery again?"}
      onOpen={open}
      description={
        <Stack gap="sm">
          <span>
            The fleet brings the parcel to the customer again.{" "}
            {reattemptFee(seen.reattemptFeePaise, seen.reattemptFeesPaise)}
            {seen.reattempt &&
              seen.personalDataMasked &&
              " Your role does not show the present note. The change replaces it."}
          </span>
          <ReattemptFields decision={decision} onChange={setDecision} />
        </Stack>
      }
      confirm={seen.reattempt ? "Change attempt" : "Request attempt"}
      isGain
      onConfirm={request}
    >
      {order.reattempt ? "Change the attempt" : "Attempt again"}
    </ConfirmButton>
  );
}

/** What the return takes the place of. */
function dropped({ number, feePaise }: NonNullable<Order["reattempt"]>): string {
  const fee = feePaise > 0 ? `, and its fee of ${formatPaise(feePaise)} is not taken` : "";
  return `The requested attempt ${number} is dropped${fee}.`;
}

function RequestReturn<One extends Order>({ order, decider }: RequestProps<One>) {
  const [seen, setSeen] = useState(order);
  const decide = useDecide(decider, seen);
  const consequences = [
    "The fleet brings the parcel back to its pickup.",
    seen.reattempt && dropped(seen.reattempt),
    seen.reattemptFeesPaise > 0
      ? "The delivery fee and the fees of attempts are not refunded."
      : "The delivery fee is not refunded.",
  ];
  return (
    <ConfirmButton
      title="Request the return of this parcel?"
      onOpen={() => setSeen(order)}
      description={consequences.filter(Boolean).join(" ")}
      confirm="Request return"
      onConfirm={() => decide.mutateAsync({ action: "return" })}
    >
      Request return
    </ConfirmButton>
  );
}
