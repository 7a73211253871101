// Which orders a request can be made for: the rules of the server, for the preview. The server decides.
import type { Decision } from "../../api/after-failure";
import type { Order } from "../../api/orders";
import { canCancel } from "../orders/next-events";

export interface Refused<One extends Order = Order> {
  order: One;
  why: string;
}

export function decidable<One extends Order>(action: Decision["action"], orders: One[], attemptsMax: number) {
  const possible: One[] = [];
  const refused: Refused<One>[] = [];
  for (const order of orders) {
    const why = whyNot(action, order, attemptsMax);
    if (why === null) possible.push(order);
    else refused.push({ order, why });
  }
  return { possible, refused };
}

/** What the requests take the place of, if orders have one already. The list of decided orders has such ones. */
export function replaced(action: Decision["action"], orders: Order[]): string | null {
  const count = orders.filter(({ reattempt, returnRequestedAt }) =>
    action === "return" ? reattempt : reattempt || returnRequestedAt,
  ).length;
  if (count === 0) return null;
  return `${count} of them ${count === 1 ? "has" : "have"} a request already: it is replaced, with its day and note.`;
}

function whyNot(action: Decision["action"], order: Order, attemptsMax: number): string | null {
  if (action === "reattempt") return whyNotAgain(order, attemptsMax);
  return action === "cancel" && !canCancel(order) ? "Its driver has the parcel." : null;
}

function whyNotAgain(order: Order, attemptsMax: number): string | null {
  if (order.personalDataErasedAt) return "Its address is erased.";
  // An order that failed in release 1.0.0 has no count.
  if (Math.max(order.failedAttempts, 1) >= attemptsMax) return `It had all of its ${attemptsMax} attempts.`;
  return null;
}
