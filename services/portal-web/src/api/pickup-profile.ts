import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";
import { statusKey } from "./status";

export type PickupProfile = components["schemas"]["PickupProfileView"];
export type NewPickupProfile = components["schemas"]["PickupProfile"];

const pickupProfileKey = ["pickup-profile"] as const;

export function usePickupProfile() {
  return useQuery({
    queryKey: pickupProfileKey,
    queryFn: () => answer(api.GET("/v1/portal/pickup-profile")),
  });
}

export function useSavePickupProfile() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewPickupProfile) => answer(api.PUT("/v1/portal/pickup-profile", { body })),
    onSuccess: (profile) => {
      client.setQueryData(pickupProfileKey, profile);
      client.invalidateQueries({ queryKey: statusKey });
    },
  });
}
