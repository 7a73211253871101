import { Alert, List, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type Decider, type Decision, useDecideAll } from "../../api/after-failure";
import { asFailure } from "../../api/failure";
import type { Order } from "../../api/orders";
import { Dialog, DialogStep } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { reattemptFee } from "../../format/failure-labels";
import { formatPaise } from "../../format/money";
import { dayError, ReattemptFields } from "../orders/reattempt-fields";
import { decidable, type Refused } from "./decidable";

interface DecideAllProps<One extends Order> {
  action: Decision["action"];
  decider: Decider<One>;
  orders: One[];
  attemptsMax: number;
  onClose: () => void;
}

/** Asks for another attempt or the return of several orders: a preview first, then what came out. */
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
  const what = action === "reattempt" ? "another attempt" : "the return";
  const act = () => decide.mutate({ orders: possible, decision });
  return (
    <Dialog
      opened
      onClose={() => decide.isPending || onClose()}
      title={<Text fw={600}>{action === "reattempt" ? "Attempt again" : "Request return"}</Text>}
    >
      {decide.data ? (
        <DialogStep key="outcome">
          <Stack>
            <Text role="status">
              {count - decide.data.size} of {count} requested.
            </Text>
            <Refusals
              title="Not requested"
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
          <Text>
            {count === 0 ? "Nothing can be requested." : `Requests ${what} of ${count} ${orderWord(count)}.`}{" "}
            {count > 0 && (action === "reattempt" ? feesOf(possible) : "The fees are not refunded.")}
          </Text>
          <Refusals title="Left out" refused={refused} />
          {action === "reattempt" && count > 0 && (
            <ReattemptFields decision={decision} onChange={setDecision} />
          )}
          <DialogActions
            isPending={decide.isPending}
            disabled={count === 0 || dayError(decision) !== null}
            onCancel={onClose}
            onAct={act}
          >
            {`Request for ${count}`}
          </DialogActions>
        </Stack>
      )}
    </Dialog>
  );
}

function feesOf(orders: Order[]): string {
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
