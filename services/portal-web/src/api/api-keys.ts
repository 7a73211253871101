import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import type { NewApiKey } from "./types";

export const apiKeysKey = ["api-keys"] as const;

export function useApiKeys() {
  return useCursorList(apiKeysKey, (startingAfter) =>
    answer(api.GET("/v1/portal/api-keys", { params: { query: { limit: PAGE_SIZE, startingAfter } } })),
  );
}

const CREATED_MAX = 100;

/** The newest keys that a user created. */
export function useKeysCreatedBy(userId: string) {
  return useQuery({
    queryKey: [...apiKeysKey, "created-by", userId],
    queryFn: () =>
      answer(
        api.GET("/v1/portal/api-keys", { params: { query: { createdBy: userId, limit: CREATED_MAX } } }),
      ),
  });
}

/** A changed key also changes the status indicators. */
function useKeyChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      client.invalidateQueries({ queryKey: apiKeysKey });
      client.invalidateQueries({ queryKey: ["status"] });
    },
    // The response may contain a secret: only the page that shows it keeps it.
    gcTime: 0,
  });
}

export function useCreateApiKey() {
  return useKeyChange((body: NewApiKey) => answer(api.POST("/v1/portal/api-keys", { body })));
}

export function useRotateApiKey() {
  return useKeyChange(({ id, ...body }: { id: string; graceSeconds: number; expiresAt?: string }) =>
    answer(api.POST("/v1/portal/api-keys/{id}/rotate", { params: { path: { id } }, body })),
  );
}

export function useRevokeApiKey() {
  return useKeyChange(({ id, ...body }: { id: string; keepPredecessor?: boolean }) =>
    answer(api.POST("/v1/portal/api-keys/{id}/revoke", { params: { path: { id } }, body })),
  );
}
