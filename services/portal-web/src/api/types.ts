// What the pages call the things that portal-api answers. Pages import from here, so that only this file knows where
// a type comes from.
import type { components } from "./schema";

export type { Advice, ErrorBody, GoLiveItem, IndicatorName, List, Role, Status } from "./provisional";

type Schemas = components["schemas"];

export type ApiKey = Schemas["ApiKeyView"];
export type AuditEntry = Schemas["LineView"];
export type CreatedApiKey = Schemas["CreatedApiKey"];
export type Fault = Schemas["Fault"];
export type Indicator = Schemas["IndicatorView"];
export type Invitation = Schemas["InvitationView"];
export type InvitationPreview = Schemas["FoundView"];
export type Mode = Schemas["Mode"];
export type OpenSession = Schemas["OwnSessionView"];
export type PortalConfig = Schemas["ConfigView"];
export type Session = Schemas["SessionView"];
export type User = Schemas["UserView"];
