// The calls of portal-api in the form that openapi-typescript gives them, written by hand for those whose
// description is not generated yet. What stands here goes when `schema.d.ts` has it.

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

export interface ErrorBody {
  message: string;
  code: string;
  requestId: string;
  errors?: Fault[];
  missing?: string[];
  requiredRole?: Role;
}
export interface Fault {
  field: string;
  code: string;
  message: string;
}
export interface List<T> {
  data: T[];
  hasMore: boolean;
}

export type Role = "owner" | "developer" | "viewer";
export type Mode = "test" | "live";

export interface PortalConfig {
  brand: { name: string; accentColor: string };
  headerPrefix: string;
  keySegment: string;
  apiBaseUrl: string;
  currency: string;
  mail: { enabled: boolean };
  roles: string[];
}
export interface Session {
  businessId: string;
  businessName: string;
  userId: string;
  email: string;
  role: Role;
  createdAt: string;
  expiresAt: string;
}
export interface OpenSession {
  id: string;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
  userAgent: string | null;
  current: boolean;
}
export interface InvitationPreview {
  businessName: string;
  email: string;
  role: Role;
  expiresAt: string;
}
export interface User {
  id: string;
  email: string;
  role: Role;
  createdAt: string;
  lastSeenAt: string | null;
  you: boolean;
}
export interface Invitation {
  id: string;
  email: string;
  role: Role;
  createdAt: string;
  expiresAt: string;
  invitedBy: string | null;
}
export type NewInvitation = Invitation & { url: string };
export interface AuditEntry {
  id: string;
  at: string;
  action: string;
  actor: { type: "user" | "operator" | "system"; userId?: string | null; email?: string | null };
  target: { type: string; id: string; label?: string | null } | null;
  requestId: string | null;
  details: Record<string, unknown>;
}
export interface ApiKey {
  id: string;
  mode: Mode;
  name: string;
  prefix: string;
  lastFour: string;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
  expiresAt: string | null;
}
export type CreatedApiKey = ApiKey & { key: string };
export interface Indicator {
  code: string;
  label: string;
}
export type IndicatorName =
  | "testApi"
  | "liveApi"
  | "connectionTest"
  | "webhook"
  | "webhookConnectionTest"
  | "wallet"
  | "subscription";
export interface GoLiveItem {
  code: string;
  label: string;
  done: boolean;
  at?: string | null;
}
export interface Advice {
  code: string;
  label: string;
  done: boolean;
  at: string | null;
  requestIds: string[];
}
export interface Status {
  indicators: Record<IndicatorName, Indicator>;
  goLive: { unlocked: boolean; items: GoLiveItem[] };
  advice?: Advice[];
}

export interface paths {
  "/v1/portal/config": { get: Read<None, PortalConfig> };
  "/v1/portal/accounts": {
    post: Call<None, { businessName: string; email: string; password: string }, { 201: Json<Session> }>;
  };
  "/v1/portal/session": {
    get: Read<None, Session>;
    post: Call<None, { email: string; password: string }, { 200: Json<Session> }>;
    delete: Act<None, { 204: Empty }>;
  };
  "/v1/portal/password-resets": { post: Call<None, { email: string }, { 202: Json<{ message: string }> }> };
  "/v1/portal/password-resets/confirm": {
    post: Call<None, { token: string; password: string }, { 204: Empty }>;
  };
  "/v1/portal/invitations/look-up": {
    post: Call<None, { token: string }, { 200: Json<InvitationPreview> }>;
  };
  "/v1/portal/invitations/accept": {
    post: Call<None, { token: string; password: string }, { 201: Json<Session> }>;
  };
  "/v1/portal/password": {
    put: Call<None, { currentPassword: string; newPassword: string }, { 204: Empty }>;
  };
  "/v1/portal/sessions": { get: Read<Paged, List<OpenSession>> };
  "/v1/portal/sessions/{id}": { delete: Act<ById, { 204: Empty }> };
  "/v1/portal/sessions/revoke-others": { post: Act<None, { 200: Json<{ revoked: number }> }> };
  "/v1/portal/users": { get: Read<Paged, List<User>> };
  "/v1/portal/users/{id}": {
    patch: Call<ById, { role: Role }, { 200: Json<User> }>;
    delete: Act<ById, { 204: Empty }>;
  };
  "/v1/portal/invitations": {
    get: Read<Paged, List<Invitation>>;
    post: Call<None, { email: string; role: Role }, { 201: Json<NewInvitation> }>;
  };
  "/v1/portal/invitations/{id}": { delete: Act<ById, { 204: Empty }> };
  "/v1/portal/audit-log": {
    get: Read<
      {
        query?: {
          action?: string;
          userId?: string;
          since?: string;
          until?: string;
          limit?: number;
          startingAfter?: string;
        };
      },
      List<AuditEntry>
    >;
  };
  "/v1/portal/status": { get: Read<None, Status> };
  "/v1/portal/api-keys": {
    get: Read<Paged, List<ApiKey>>;
    post: Call<None, { mode: Mode; name: string }, { 201: Json<CreatedApiKey> }>;
  };
  "/v1/portal/api-keys/{id}/revoke": { post: Act<ById, { 200: Json<ApiKey> }> };
  "/v1/portal/api-keys/{id}/rotate": {
    post: Call<ById, { graceSeconds: number }, { 200: Json<CreatedApiKey> }>;
  };
}
