import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";
import { sessionKey } from "./session";
import type { Role } from "./types";

const usersKey = ["users"] as const;
const invitationsKey = ["invitations"] as const;

export function useUsers() {
  return useCursorList(usersKey, (startingAfter) =>
    answer(api.GET("/v1/portal/users", { params: { query: { limit: PAGE_SIZE, startingAfter } } })),
  );
}

/** Refetches the session too, because users can change their own role. Done when the list shows the change. */
function useUserChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () =>
      Promise.all([usersKey, sessionKey].map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}

export function useChangeRole() {
  return useUserChange(({ id, role }: { id: string; role: Role }) =>
    answer(api.PATCH("/v1/portal/users/{id}", { params: { path: { id } }, body: { role } })),
  );
}

export function useRemoveUser() {
  return useUserChange((id: string) =>
    answer(api.DELETE("/v1/portal/users/{id}", { params: { path: { id } } })),
  );
}

/** A user whom single sign-on has created becomes another user. */
export function useLinkUser() {
  return useUserChange(({ id, userId }: { id: string; userId: string }) =>
    answer(api.POST("/v1/portal/users/{id}/link", { params: { path: { id } }, body: { userId } })),
  );
}

export function useEndSessionsOf() {
  return useUserChange((id: string) =>
    answer(api.DELETE("/v1/portal/users/{id}/sessions", { params: { path: { id } } })),
  );
}

/** Removes the second factor of a user who has lost it. */
export function useResetFactor() {
  return useUserChange((id: string) =>
    answer(api.DELETE("/v1/portal/users/{id}/second-factor", { params: { path: { id } } })),
  );
}

export function useInvitations() {
  return useCursorList(invitationsKey, (startingAfter) =>
    answer(api.GET("/v1/portal/invitations", { params: { query: { limit: PAGE_SIZE, startingAfter } } })),
  );
}

export function useInvite() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { email: string; role: Role }) => answer(api.POST("/v1/portal/invitations", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: invitationsKey }),
    // The response contains the link, which grants access.
    gcTime: 0,
  });
}

export function useWithdrawInvitation() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      answer(api.DELETE("/v1/portal/invitations/{id}", { params: { path: { id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: invitationsKey }),
  });
}
