// What the pages call the things that portal-api answers. Pages import from here, so that only this file knows where
// a type comes from.
export type {
  Advice,
  ApiKey,
  AuditEntry,
  CreatedApiKey,
  ErrorBody,
  Fault,
  GoLiveItem,
  Indicator,
  IndicatorName,
  Invitation,
  InvitationPreview,
  List,
  Mode,
  NewInvitation,
  OpenSession,
  PortalConfig,
  Role,
  Session,
  Status,
  User,
} from "./provisional";
