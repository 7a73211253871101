// The calls of portal-api in the form that openapi-typescript gives them, written by hand for those whose
// description is not generated yet. What stands here goes when `schema.d.ts` has it.

import type { components } from "./schema";

export type Json<T> = { headers: Record<string, unknown>; content: { "application/json": T } };
export type Empty = { headers: Record<string, unknown>; content?: never };
export type Failure = { default: Json<ErrorBody> };
export type Call<Parameters, Body, Answers> = {
  parameters: Parameters;
  requestBody: { content: { "application/json": Body } };
  responses: Answers & Failure;
};
export type Read<Parameters, Answer> = {
  parameters: Parameters;
  requestBody?: never;
  responses: { 200: Json<Answer> } & Failure;
};
export type Act<Parameters, Answers> = {
  parameters: Parameters;
  requestBody?: never;
  responses: Answers & Failure;
};
export type None = { query?: never; path?: never };
export type ById = { path: { id: string } };
export type Paged = { query?: { limit?: number; startingAfter?: string } };

type Schemas = components["schemas"];

export type ErrorBody = Schemas["Error"] & { requiredRole?: Role | null };
export interface List<T> {
  data: T[];
  hasMore: boolean;
}
export type Role = Schemas["Role"];

export type Status = Schemas["StatusView"];
export type GoLiveItem = Status["goLive"]["items"][number];
export type IndicatorName = keyof Schemas["IndicatorsView"];
export type Advice = Status["advice"][number];

export interface paths {
  "/v1/portal/password-resets": { post: Call<None, { email: string }, { 202: Json<{ message: string }> }> };
  "/v1/portal/password-resets/confirm": {
    post: Call<None, { token: string; password: string }, { 204: Empty }>;
  };
}
