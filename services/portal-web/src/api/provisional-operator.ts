// As `provisional.ts`: calls of the operator's console whose description is not generated yet.
import type { ById, Call, Json } from "./provisional";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Business = Schemas["BusinessView"];
export type BusinessDetails = Schemas["BusinessDetails"];
export type BusinessHealth = Schemas["HealthView"];
export type FoundOrder = Schemas["FoundOrderView"];
export interface ResetLink {
  url: string;
  expiresAt: string;
}
export type BusinessFilter = { search?: string; status?: string; subscription?: string };

export interface OperatorPaths {
  "/v1/operator/businesses/{id}/password-resets": {
    post: Call<ById, { email: string }, { 201: Json<ResetLink> }>;
  };
}
