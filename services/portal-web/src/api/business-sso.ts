// Single sign-on of a business with its own identity provider.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { clearForSession } from "./session";
import { departFor, type SsoDeparture, storedDeparture } from "./sso-departure";
import type { BusinessSsoReturn, PutSingleSignOn } from "./types";

const DEPARTURE = "waybill.business-sso";
const LAST_BUSINESS = "waybill.sso-business";
const settingsKey = ["single-sign-on"] as const;

/** Opens the page of the business's identity provider. */
export function useStartBusinessSso(businessId: string) {
  return useMutation({
    mutationFn: async () => {
      const body = { purpose: "log_in", businessId };
      const { url } = await answer(api.POST("/v1/portal/sso/log-ins", { body }));
      return departFor(url, DEPARTURE, "log_in");
    },
  });
}

/** Confirms an open session at the identity provider that has opened it. */
export function useConfirmAtBusinessSso() {
  return useMutation({
    mutationFn: async () => {
      const { url } = await answer(api.POST("/v1/portal/sso/log-ins", { body: { purpose: "confirm" } }));
      return departFor(url, DEPARTURE, "confirm");
    },
  });
}

/** Opens or confirms the session. */
export function useCompleteBusinessSso() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: BusinessSsoReturn) => answer(api.POST("/v1/portal/sso/log-ins/complete", { body })),
    onSuccess: (session) => {
      if (!session) return;
      localStorage.setItem(LAST_BUSINESS, session.businessId);
      clearForSession(client, session);
    },
    gcTime: 0,
  });
}

/** The page that the person left, or the log-in page of the business. */
export function lastBusinessDeparture(businessId: string): SsoDeparture {
  return storedDeparture(DEPARTURE) ?? { purpose: "log_in", path: `/log-in/${businessId}` };
}

/** The business that was used last in this browser with single sign-on. */
export function lastSsoBusiness(): string | null {
  const stored = localStorage.getItem(LAST_BUSINESS);
  return stored && /^biz_\w+$/.test(stored) ? stored : null;
}

export function useSsoSettings() {
  return useQuery({
    queryKey: settingsKey,
    queryFn: () => answer(api.GET("/v1/portal/single-sign-on")),
  });
}

export function usePutSso() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: PutSingleSignOn) => answer(api.PUT("/v1/portal/single-sign-on", { body })),
    onSuccess: (settings) => client.setQueryData(settingsKey, settings),
    // The secret must not stay in memory.
    gcTime: 0,
  });
}

export function useRemoveSso() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => answer(api.DELETE("/v1/portal/single-sign-on")),
    onSuccess: () => client.invalidateQueries({ queryKey: settingsKey }),
  });
}

export function useTestSso() {
  return useMutation({ mutationFn: () => answer(api.POST("/v1/portal/single-sign-on/test")) });
}
