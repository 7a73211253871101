import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { ApiFailure, isCode } from "./failure";
import { operatorAnswer, operatorSessionKey } from "./operator-session";
import type { SsoReturn } from "./types";

/** What somebody visits the identity provider for. */
export type SsoPurpose = "log_in" | "confirm" | "link";

/** Where the person was, and for what they left. The provider sends them back to one page only. */
export interface SsoDeparture {
  purpose: SsoPurpose;
  path: string;
}

const DEPARTURE = "waybill.sso";
const HOME: SsoDeparture = { purpose: "log_in", path: "/operator/businesses" };

/** Opens the page of the identity provider. The mutation stays pending until the person comes back with the browser's button. */
export function useStartSso() {
  return useMutation({
    mutationFn: async (purpose: SsoPurpose) => {
      const { url } = await explained(
        operatorAnswer(api.POST("/v1/operator/sso/log-ins", { body: { purpose } })),
      );
      const { pathname, search } = window.location;
      sessionStorage.setItem(DEPARTURE, JSON.stringify({ purpose, path: pathname + search }));
      window.location.assign(url);
      return new Promise<void>((resolve) => {
        window.addEventListener("pageshow", () => resolve(), { once: true });
      });
    },
  });
}

/** The page that the person left. It is of this console, because this console has stored it. */
export function lastDeparture(): SsoDeparture {
  const stored = sessionStorage.getItem(DEPARTURE);
  if (!stored) return HOME;
  const departure: SsoDeparture = JSON.parse(stored);
  const isReturn = departure.path.startsWith("/operator/sso");
  return isReturn || !departure.path.startsWith("/operator") ? HOME : departure;
}

/** Opens or confirms the session, or links the account. */
export function useCompleteSso() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: SsoReturn) =>
      explained(answer(api.POST("/v1/operator/sso/log-ins/complete", { body }))),
    onSuccess: (session) => {
      if (session) client.setQueryData(operatorSessionKey, session);
    },
    gcTime: 0,
  });
}

async function explained<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ApiFailure) || !isCode(error, "sso_unavailable")) throw error;
    const message = "The identity provider does not respond. Try again in a moment.";
    throw new ApiFailure(error.status, { ...error.body, message });
  }
}
