import { Alert, List, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type Decider, type Decision, useDecideAll } from "../../api/after-failure";
import { asFailure } from "../../api/failure";
import type { Order } from "../../api/orders";
import { Dialog, DialogStep } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { reattemptFee } from "../../format/failure-labels";
import { formatPaise } from "../../format/money";
import { CancelReason } from "../orders/cancel-order";
import { dayError, ReattemptFields } from "../orders/reattempt-fields";
import { decidable, type Refused, replaced } from "./decidable";

interface Words {
  title: string;
  /** Before the number of orders. */
  acts: string;
  done: string;
  confirm: (count: number) => string;
}

const REQUEST = { done: "requested", confirm: (count: number) => `Request for ${count}` };

export const ACTIONS: Record<Decision["action"], Words> = {
  reattempt: { ...REQUEST, title: "Attempt again", acts: "Requests another attempt of" },
  return: { ...REQUEST, title: "Request return", acts: "Requests the return of" },
  cancel: {
    title: "Cancel orders",
    acts: "Cancels",
    done: "cancelled",
    confirm: (count) => `Cancel ${count} ${orderWord(count)}`,
  },
};

interface DecideAllProps<One extends Order> {
  action: Decision["action"];
  decider: Decider<One>;
  orders: One[];
  attemptsMax: number;
  onClose: () => void;
}

/** Does the same about several orders: a preview first, then what came out. */
export function DecideAll<One extends Order>({
  action,
  decider,
  orders,
  attemptsMax,
  onClose,
}: DecideAllProps<One>) {
  // The orders of the preview: decided ones leave the list.
  const [{ possible, refused }] = useState(() => decidable(action, orders, attemptsMax));
  const [decision, setDecision] = useState<Decision>({ action });
  const decide = useDecideAll(decider);
  const count = possible.length;
  const { title, acts, done, confirm } = ACTIONS[action];
  const preview = [
    `${acts} ${count} ${orderWord(count)}.`,
    replaced(action, possible),
    feesOf(action, possible),
  ];
  const act = () => decide.mutate({ orders: possible, decision });
  return (
    <Dialog opened onClose={() => decide.isPending || onClose()} title={<Text fw={600}>{title}</Text>}>
      {decide.data ? (
        <DialogStep key="outcome">
          <Stack>
            <Text role="status">
              {count - decide.data.size} of {count} {done}.
            </Text>
            <Refusals
              title={`Not ${done}`}
              refused={possible
                .filter(({ id }) => decide.data.has(id))
                .map((order) => ({ order, why: asFailure(decide.data.get(order.id)).message }))}
            />
            <DialogActions isPending={false} onCancel={onClose} cancel="Back" onAct={onClose}>
              Done
            </DialogActions>
          </Stack>
        </DialogStep>
      ) : (
        <Stack>
          <Text>{count === 0 ? `Nothing can be ${done}.` : preview.filter(Boolean).join(" ")}</Text>
          <Refusals title="Left out" refused={refused} />
          {action === "reattempt" && count > 0 && (
            <ReattemptFields decision={decision} onChange={setDecision} />
          )}
          {action === "cancel" && count > 0 && (
            <CancelReason
              value={decision.reason ?? ""}
              onChange={(reason) => setDecision({ ...decision, reason })}
            />
          )}
          <DialogActions
            isPending={decide.isPending}
            disabled={count === 0 || dayError(decision) !== null}
            onCancel={onClose}
            cancel={action === "cancel" ? "Keep orders" : undefined}
            onAct={act}
          >
            {confirm(count)}
          </DialogActions>
        </Stack>
      )}
    </Dialog>
  );
}

/** What becomes of the fees, and what else to know before. */
function feesOf(action: Decision["action"], orders: Order[]): string {
  if (action === "return") return "The fees are not refunded.";
  return action === "cancel" ? refundOf(orders) : feesOfAttempts(orders);
}

function refundOf(orders: Order[]): string {
  const paise = orders.reduce((sum, { feeChargedPaise }) => sum + feeChargedPaise, 0);
  const fees = `The delivery fees, ${formatPaise(paise)} in all, are refunded to your wallet.`;
  return `${fees} An order that a driver takes meanwhile is cancelled too. This cannot be undone.`;
}

function feesOfAttempts(orders: Order[]): string {
  const paise = orders.reduce((sum, { reattemptFeePaise }) => sum + reattemptFeePaise, 0);
  const taken = orders.reduce((sum, { reattemptFeesPaise }) => sum + reattemptFeesPaise, 0);
  if (paise === 0) return reattemptFee(0, taken);
  return `The fees are ${formatPaise(paise)} in all, each taken when its attempt begins.`;
}

const orderWord = (count: number) => (count === 1 ? "order" : "orders");

function Refusals({ title, refused }: { title: string; refused: Refused[] }) {
  if (refused.length === 0) return null;
  return (
    <Alert color="yellow" variant="light" title={`${title}: ${refused.length} ${orderWord(refused.length)}`}>
      <List size="sm">
        {refused.map(({ order, why }) => (
          <List.Item key={order.id}>
            {order.orderReference}: {why}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
