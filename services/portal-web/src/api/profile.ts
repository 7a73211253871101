// The user's own name and e-mail address, and the name of the business.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";
import { sessionKey } from "./session";

const emailKey = ["email"] as const;

/** The own address, and the one that the user changes to. */
export function useEmail() {
  return useQuery({
    queryKey: emailKey,
    queryFn: () => answer(api.GET("/v1/portal/email")),
    // The link may have been opened in another tab.
    refetchOnWindowFocus: "always",
  });
}

/** Refetches what shows names and addresses. */
function useProfileChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () =>
      Promise.all(
        [sessionKey, emailKey, ["users"], ["sessions"]].map((queryKey) =>
          client.invalidateQueries({ queryKey }),
        ),
      ),
  });
}

export function useChangeEmail() {
  return useProfileChange((email: string) => answer(api.PUT("/v1/portal/email", { body: { email } })));
}

export function useChangeName() {
  return useProfileChange((name: string | null) => answer(api.PUT("/v1/portal/name", { body: { name } })));
}

export function useRenameBusiness() {
  return useProfileChange((businessName: string) =>
    answer(api.PUT("/v1/portal/business", { body: { businessName } })),
  );
}

const contactKey = ["contact"] as const;

/** Whom the operator asks about the business, and its tax number. */
export function useContact() {
  return useQuery({
    queryKey: contactKey,
    queryFn: () => answer(api.GET("/v1/portal/business/contact")),
  });
}

export function useChangeContact() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: components["schemas"]["ChangeContact"]) =>
      answer(api.PUT("/v1/portal/business/contact", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: contactKey }),
  });
}

/** Mails another link that confirms the present address. */
export function useSendConfirmation() {
  return useMutation({ mutationFn: () => answer(api.POST("/v1/portal/email-confirmations")) });
}

/** Uses the link of a mail, in a session of its account. */
export function useConfirmEmail() {
  return useProfileChange((token: string) =>
    answer(api.POST("/v1/portal/email-confirmations/confirm", { body: { token } })),
  );
}
