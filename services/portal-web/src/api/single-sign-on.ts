import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { ApiFailure, isCode } from "./failure";
import { openConsole, operatorAnswer } from "./operator-session";
import { departFor, type SsoDeparture, type SsoPurpose, storedDeparture } from "./sso-departure";
import type { SsoReturn } from "./types";

const DEPARTURE = "waybill.sso";
const HOME: SsoDeparture = { purpose: "log_in", path: "/operator/businesses" };

/** Opens the page of the identity provider. */
export function useStartSso() {
  return useMutation({
    mutationFn: async (purpose: SsoPurpose) => {
      const { url } = await explained(
        operatorAnswer(api.POST("/v1/operator/sso/log-ins", { body: { purpose } })),
      );
      return departFor(url, DEPARTURE, purpose);
    },
  });
}

/** The page of the console that the person left. */
export function lastDeparture(): SsoDeparture {
  const departure = storedDeparture(DEPARTURE) ?? HOME;
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
      if (session) openConsole(client, session);
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
