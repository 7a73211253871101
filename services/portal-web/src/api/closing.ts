// The closing of the own business.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { sessionKey } from "./session";
import { statusKey } from "./status";

const closingKey = ["closing"] as const;

/** What is open changes in all services. */
const POLL_MS = 15_000;

export function useClosing() {
  return useQuery({
    queryKey: closingKey,
    queryFn: () => answer(api.GET("/v1/portal/business/closing")),
    refetchInterval: POLL_MS,
  });
}

/** A refusal can mean that the shown data is stale. */
function useClosingChange<Input>(change: (input: Input) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    // Each page says that the business is being closed, as the session knows.
    onSettled: () =>
      Promise.all(
        [closingKey, statusKey, sessionKey].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  });
}

export function useBeginClosing() {
  return useClosingChange((reason: string | null) =>
    answer(api.POST("/v1/portal/business/closing", { body: { reason } })),
  );
}

export function useWithdrawClosing() {
  return useClosingChange(() => answer(api.DELETE("/v1/portal/business/closing")));
}
