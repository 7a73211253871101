import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import type { Mode } from "./types";

export const apiKeysKey = ["api-keys"] as const;

export function useApiKeys() {
  return useCursorList(apiKeysKey, (startingAfter) =>
    answer(api.GET("/v1/portal/api-keys", { params: { query: { limit: PAGE_SIZE, startingAfter } } })),
  );
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
  return useKeyChange((body: { mode: Mode; name: string }) =>
    answer(api.POST("/v1/portal/api-keys", { body })),
  );
}

export function useRotateApiKey() {
  return useKeyChange(({ id, graceSeconds }: { id: string; graceSeconds: number }) =>
    answer(api.POST("/v1/portal/api-keys/{id}/rotate", { params: { path: { id } }, body: { graceSeconds } })),
  );
}

export function useRevokeApiKey() {
  return useKeyChange((id: string) =>
    answer(api.POST("/v1/portal/api-keys/{id}/revoke", { params: { path: { id } } })),
  );
}
