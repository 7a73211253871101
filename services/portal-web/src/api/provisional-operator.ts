// As `provisional.ts`: calls of the operator's console whose description is not generated yet.
import type { ById, Call, GoLiveItem, IndicatorName, Json, List, Paged, Read } from "./provisional";
import type { components } from "./schema";
import type { Indicator } from "./types";

type Schemas = components["schemas"];

export type Business = Schemas["BusinessView"];
export type BusinessDetails = Business & { pickupProfile: { complete: boolean }; users: number };
interface OrderHealth {
  lastAt: string | null;
  last24h: number;
  pending: number;
}
export interface BusinessHealth {
  indicators?: Record<IndicatorName, Indicator> | null;
  goLive?: { unlocked: boolean; items: GoLiveItem[] } | null;
  balancePaise?: number | null;
  lowBalanceThresholdPaise?: number | null;
  orders?: { live: OrderHealth; test: OrderHealth } | null;
  endpoints?: Schemas["EndpointView"][] | null;
  problems: { code: string; message: string }[];
  /** The services that did not answer. */
  incomplete: string[];
}
export interface FoundOrder {
  business: { id: string; name: string };
  order: Schemas["OrderView"];
}
export interface ResetLink {
  url: string;
  expiresAt: string;
}
export type BusinessFilter = { search?: string; status?: string; subscription?: string };

export interface OperatorPaths {
  "/v1/operator/businesses": {
    get: Read<{ query?: BusinessFilter & { limit?: number; startingAfter?: string } }, List<Business>>;
  };
  "/v1/operator/businesses/{id}": {
    get: Read<ById, BusinessDetails>;
    patch: Call<ById, Schemas["ChangeBusiness"], { 200: Json<Business> }>;
  };
  "/v1/operator/businesses/{id}/health": { get: Read<ById, BusinessHealth> };
  "/v1/operator/businesses/{id}/password-resets": {
    post: Call<ById, { email: string }, { 201: Json<ResetLink> }>;
  };
  "/v1/operator/orders": { get: Read<{ query: { code: string } }, { data: FoundOrder[] }> };
  "/v1/operator/orders/{id}/events": {
    get: Read<ById & Paged, List<Schemas["TimelineEntry"]> & { incomplete?: string[] }>;
  };
}
