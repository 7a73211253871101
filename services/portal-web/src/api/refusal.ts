// What the operator refused the own business: its approval, or live access.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";

const refusalKey = ["refusal"] as const;
const POLL_MS = 60_000;

export function useRefusal() {
  return useQuery({
    queryKey: refusalKey,
    queryFn: () => answer(api.GET("/v1/portal/business/refusal")),
    refetchInterval: POLL_MS,
  });
}

export function useAskAgain() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (note: string) =>
      answer(api.POST("/v1/portal/business/refusal/ask-again", { body: note ? { note } : {} })),
    onSettled: () => client.invalidateQueries({ queryKey: refusalKey }),
  });
}
