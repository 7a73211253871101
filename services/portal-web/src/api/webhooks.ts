import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Endpoint = Schemas["EndpointView"];
export type TestResult = Schemas["TestResult"];
export type NewEndpoint = Schemas["CreateEndpoint"];
export type EndpointChange = Schemas["UpdateEndpoint"];
export type SignatureEvidence = Schemas["VerifySignature"];
export type SignatureFindings = Schemas["SignatureFindings"];

export const webhooksKey = ["webhooks"] as const;
const listKey = [...webhooksKey, "endpoints"] as const;
const endpointKey = (id: string) => [...webhooksKey, "endpoint", id] as const;
export const deliveriesKey = (endpointId: string) => [...webhooksKey, "deliveries", endpointId] as const;

/** Statuses and last deliveries change without user action. */
const POLL_MS = 10_000;

export function useEndpoints(enabled = true) {
  return useCursorList(
    listKey,
    (startingAfter) =>
      answer(
        api.GET("/v1/portal/webhook-endpoints", { params: { query: { limit: PAGE_SIZE, startingAfter } } }),
      ),
    { enabled, pollMs: () => POLL_MS },
  );
}

export function useEndpoint(id: string) {
  return useQuery({
    queryKey: endpointKey(id),
    queryFn: () => answer(api.GET("/v1/portal/webhook-endpoints/{id}", { params: { path: { id } } })),
    refetchInterval: POLL_MS,
  });
}

function invalidateEndpoints(client: QueryClient) {
  client.invalidateQueries({ queryKey: webhooksKey });
  client.invalidateQueries({ queryKey: ["status"] });
}

/** The response may contain a secret: only the page that shows it keeps it. */
const NOT_KEPT = { gcTime: 0 };

export function useCreateEndpoint() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewEndpoint) => answer(api.POST("/v1/portal/webhook-endpoints", { body })),
    onSuccess: () => invalidateEndpoints(client),
    ...NOT_KEPT,
  });
}

/** A change that returns the endpoint. */
function useEndpointChange<Input>(id: string, change: (input: Input) => Promise<Endpoint>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (endpoint) => {
      client.setQueryData(endpointKey(id), endpoint);
      invalidateEndpoints(client);
    },
  });
}

export function useUpdateEndpoint(id: string) {
  return useEndpointChange(id, (body: EndpointChange) =>
    answer(api.PATCH("/v1/portal/webhook-endpoints/{id}", { params: { path: { id } }, body })),
  );
}

export function useReplayParked(id: string) {
  return useEndpointChange(id, () =>
    answer(api.POST("/v1/portal/webhook-endpoints/{id}/parked/replay", { params: { path: { id } } })),
  );
}

export function useDiscardParked(id: string) {
  return useEndpointChange(id, () =>
    answer(api.POST("/v1/portal/webhook-endpoints/{id}/parked/discard", { params: { path: { id } } })),
  );
}

export function useActivateSecret(id: string) {
  return useEndpointChange(id, () =>
    answer(api.POST("/v1/portal/webhook-endpoints/{id}/secret/activate", { params: { path: { id } } })),
  );
}

export function useRotateSecret(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["RotateSecret"]) =>
      answer(api.POST("/v1/portal/webhook-endpoints/{id}/secret/rotate", { params: { path: { id } }, body })),
    onSuccess: () => invalidateEndpoints(client),
    ...NOT_KEPT,
  });
}

export function useDeleteEndpoint() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      answer(api.DELETE("/v1/portal/webhook-endpoints/{id}", { params: { path: { id } } })),
    onSuccess: () => {
      client.invalidateQueries({ queryKey: listKey });
      client.invalidateQueries({ queryKey: ["status"] });
    },
  });
}

/** Takes as long as the endpoint takes to respond. */
export function useTestEndpoint(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answer(api.POST("/v1/portal/webhook-endpoints/{id}/test", { params: { path: { id } } })),
    onSuccess: () => invalidateEndpoints(client),
  });
}

export function useVerifySignature(id: string) {
  return useMutation({
    mutationFn: (body: SignatureEvidence) =>
      answer(
        api.POST("/v1/portal/webhook-endpoints/{id}/verify-signature", { params: { path: { id } }, body }),
      ),
    ...NOT_KEPT,
  });
}
