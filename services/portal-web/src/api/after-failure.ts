import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { ordersKey } from "./orders";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Exceptions = Schemas["ShownExceptions"];
export type ExceptionKind = keyof Schemas["ExceptionCounts"];
export type Correction = Schemas["CorrectDelivery"];

/** The attempt or the return that is asked for. */
export interface Decision {
  action: "reattempt" | "return";
  date?: string;
  note?: string;
}

/** Part of the orders' key, so that each change of an order reads it again. */
const exceptionsKey = [...ordersKey, "exceptions"] as const;
const POLL_MS = 60_000;

export function useExceptions(kind: ExceptionKind) {
  return useQuery({
    queryKey: [...exceptionsKey, kind],
    queryFn: () => answer(api.GET("/v1/portal/exceptions", { params: { query: { kind } } })),
    refetchInterval: POLL_MS,
    placeholderData: (previous) => previous,
  });
}

/** Repeating a decision has no effect. */
function decide(id: string, { action, date, note }: Decision) {
  const params = { path: { id } };
  if (action === "return") return answer(api.POST("/v1/portal/orders/{id}/return", { params }));
  return answer(api.POST("/v1/portal/orders/{id}/reattempt", { params, body: { date, note } }));
}

function useChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: ordersKey }),
  });
}

export function useDecide(id: string) {
  return useChange((decision: Decision) => decide(id, decision));
}

export function useCorrectDelivery(id: string) {
  return useChange((body: Correction) =>
    answer(api.POST("/v1/portal/orders/{id}/delivery-details", { params: { path: { id } }, body })),
  );
}

/** The error of each order that was refused, by its id. One call at a time: the limits are per user. */
export function useDecideAll() {
  return useChange(async ({ ids, decision }: { ids: string[]; decision: Decision }) => {
    const failed = new Map<string, unknown>();
    for (const id of ids) {
      try {
        await decide(id, decision);
      } catch (error) {
        failed.set(id, error);
      }
    }
    return failed;
  });
}
