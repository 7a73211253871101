import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";

export const sessionsKey = ["sessions"] as const;

export function useSessions() {
  return useCursorList(sessionsKey, (startingAfter) =>
    answer(api.GET("/v1/portal/sessions", { params: { query: { limit: PAGE_SIZE, startingAfter } } })),
  );
}

export function useEndSession() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => answer(api.DELETE("/v1/portal/sessions/{id}", { params: { path: { id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionsKey }),
  });
}

export function useEndOtherSessions() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => answer(api.POST("/v1/portal/sessions/revoke-others")),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionsKey }),
  });
}

export function useChangePassword() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      answer(api.PUT("/v1/portal/password", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionsKey }),
  });
}
