import { type QueryKey, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { cancelOrder, type Order, ordersKey } from "./orders";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Exceptions = Schemas["ShownExceptions"];
export type ExceptionKind = keyof Schemas["ExceptionCounts"];
/** Whether another attempt or the return was asked for, or is asked for and has not begun. */
export type DecisionFilter = "asked" | "none" | "pending";
export type Correction = Schemas["CorrectDelivery"];

/** What is asked for: an attempt or the return, or the end of an order before its pickup. */
export interface Decision {
  action: "reattempt" | "return" | "cancel";
  date?: string;
  note?: string;
  /** Of a cancellation. */
  reason?: string;
  /** The decision that the person saw, so that a newer one is not replaced. */
  seen?: string;
}

/** When the attempt or the return was asked for that an order shows. */
function seenOf({ reattempt, returnRequestedAt }: Order): string {
  return reattempt?.requestedAt ?? returnRequestedAt ?? "none";
}

/** Who decides about these orders: a user of their business, or the staff. */
export interface Decider<One extends Order = Order> {
  /** Repeating a decision has no effect. */
  decide: (order: One, decision: Decision) => Promise<unknown>;
  /** What they can ask for, by the kind of the orders. */
  actions: Record<ExceptionKind, Decision["action"][]>;
  /** What a decision changes. */
  changes: QueryKey;
}

/** Part of the orders' key, so that each change of an order reads it again. */
const exceptionsKey = [...ordersKey, "exceptions"] as const;
const POLL_MS = 60_000;

export function useExceptions(kind: ExceptionKind, decision: DecisionFilter | undefined) {
  return useQuery({
    queryKey: [...exceptionsKey, kind, decision],
    queryFn: () => answer(api.GET("/v1/portal/exceptions", { params: { query: { kind, decision } } })),
    refetchInterval: POLL_MS,
    placeholderData: (previous) => previous,
  });
}

/** About the orders of the own business. */
export const OWN_DECIDER: Decider = {
  decide: ({ id }, { action, date, note, reason, seen }) => {
    if (action === "cancel") return cancelOrder(id, reason?.trim() ?? "");
    const params = { path: { id }, query: { seen } };
    if (action === "return") return answer(api.POST("/v1/portal/orders/{id}/return", { params }));
    return answer(api.POST("/v1/portal/orders/{id}/reattempt", { params, body: { date, note } }));
  },
  actions: { failed: ["reattempt", "return"], unassigned: ["cancel"], stuck: ["cancel"] },
  changes: ordersKey,
};

function useChange<Input, Output>(queryKey: QueryKey, change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey }),
  });
}

/** `order` is the one that the person saw when they opened the dialog. */
export function useDecide<One extends Order>({ decide, changes }: Decider<One>, order: One) {
  return useChange(changes, (decision: Decision) => decide(order, { ...decision, seen: seenOf(order) }));
}

export function useCorrectDelivery(id: string) {
  return useChange(ordersKey, (body: Correction) =>
    answer(api.POST("/v1/portal/orders/{id}/delivery-details", { params: { path: { id } }, body })),
  );
}

/** The error of each order that was refused, by its id. One call at a time: the limits are per user. */
export function useDecideAll<One extends Order>({ decide, changes }: Decider<One>) {
  return useChange(changes, async ({ orders, decision }: { orders: One[]; decision: Decision }) => {
    const failed = new Map<string, unknown>();
    for (const order of orders) {
      try {
        await decide(order, { ...decision, seen: seenOf(order) });
      } catch (error) {
        failed.set(order.id, error);
      }
    }
    return failed;
  });
}
