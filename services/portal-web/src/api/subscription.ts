import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";
import { statusKey } from "./status";

export type Subscription = components["schemas"]["SubscriptionView"];

export const subscriptionKey = ["subscription"] as const;

export function useSubscription() {
  return useQuery({
    queryKey: subscriptionKey,
    queryFn: () => answer(api.GET("/v1/portal/subscription")),
  });
}

export function useRequestPlan() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (plan: string) => answer(api.PUT("/v1/portal/subscription", { body: { plan } })),
    onSuccess: (subscription) => {
      client.setQueryData(subscriptionKey, subscription);
      client.invalidateQueries({ queryKey: statusKey });
    },
  });
}
