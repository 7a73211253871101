import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import { businessKey } from "./operator-businesses";
import { operatorAnswer, operatorKey } from "./operator-session";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type RemittanceCheck = Schemas["RemittanceCheck"];
export type Remittance = Schemas["RemittanceView"];
type NewRemittance = Schemas["CreateRemittance"];

const cashKey = (id: string) => [...operatorKey, "business-cash", id] as const;
const remittancesKey = (id: string) => [...operatorKey, "remittances", id] as const;

/** Cash of a business that you hold, newest order first. */
export function useCashToSettle(id: string, late: boolean) {
  return useCursorList([...cashKey(id), late], async (startingAfter) => {
    const query = { status: "handed_over", late: late || undefined, limit: PAGE_SIZE, startingAfter };
    const call = api.GET("/v1/operator/businesses/{id}/cod", { params: { path: { id }, query } });
    const page = await operatorAnswer(call);
    return { ...page, data: page.data.map((cash) => ({ ...cash, id: cash.orderId })) };
  });
}

export function useRemittancesOf(id: string) {
  return useCursorList(remittancesKey(id), (startingAfter) => {
    const query = { limit: PAGE_SIZE, startingAfter };
    const call = api.GET("/v1/operator/businesses/{id}/remittances", { params: { path: { id }, query } });
    return operatorAnswer(call);
  });
}

/** What a remittance of these lines would settle. */
export function useRemittanceCheck(id: string, csv: string) {
  return useQuery({
    queryKey: [...cashKey(id), "check", csv],
    queryFn: () =>
      operatorAnswer(
        api.POST("/v1/operator/businesses/{id}/remittances/check", {
          params: { path: { id } },
          body: { csv },
        }),
      ),
    retry: false,
    gcTime: 0,
  });
}

export function useCreateRemittance(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewRemittance) =>
      operatorAnswer(
        api.POST("/v1/operator/businesses/{id}/remittances", { params: { path: { id } }, body }),
      ),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: cashKey(id) }),
        client.invalidateQueries({ queryKey: remittancesKey(id) }),
        client.invalidateQueries({ queryKey: [...operatorKey, "cash"] }),
      ]),
  });
}

/** Gives a discrepancy an owner, or closes it. */
export function useAssignDifference(business: string, order: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["AssignCashDifference"]) =>
      operatorAnswer(
        api.PUT("/v1/operator/businesses/{id}/cod/{order}/difference", {
          params: { path: { id: business, order } },
          body,
        }),
      ),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: [...operatorKey, "discrepancies"] }),
        client.invalidateQueries({ queryKey: [...operatorKey, "cash"] }),
        client.invalidateQueries({ queryKey: [...businessKey(business), "cash"] }),
      ]),
  });
}
