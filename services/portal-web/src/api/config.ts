import { queryOptions, useQuery } from "@tanstack/react-query";
import { setRegion } from "../format/region";
import { answer, api } from "./client";
import type { PortalConfig } from "./types";

/** Used until the server's configuration arrives. */
const UNKNOWN: PortalConfig = {
  brand: { name: "Delivery portal", accentColor: "#3b5bdb" },
  headerPrefix: "Service",
  keySegment: "waybill",
  apiBaseUrl: "https://delivery.example/v1",
  portalUrl: "",
  webhookAddresses: [],
  attemptEvents: false,
  currency: "INR",
  locale: "en-IN",
  timeZone: "Asia/Kolkata",
  mail: { enabled: false },
  roles: ["owner", "developer", "viewer"],
  parts: ["portal", "console"],
  singleSignOn: null,
};

export const configQuery = queryOptions({
  queryKey: ["config"],
  queryFn: async () => {
    const config = await answer(api.GET("/v1/portal/config"));
    setRegion(config);
    return config;
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** order-api serves the documentation next to the API. */
export function docsUrl(
  { apiBaseUrl }: PortalConfig,
  page?: "downloads" | "webhook-reference" | "webhooks",
): string {
  const docs = apiBaseUrl.replace(/\/v1$/, "/docs");
  return page ? `${docs}/${page}` : docs;
}

export function useConfig(): PortalConfig {
  return useQuery(configQuery).data ?? UNKNOWN;
}
