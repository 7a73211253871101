// Names of the types in portal-api's responses. Pages import them from here, not from the generated schema.
import type { components } from "./schema";

type Schemas = components["schemas"];

export interface List<T> {
  data: T[];
  hasMore: boolean;
  /** The cursor of the next page, if it is not the last id. */
  next?: string | null;
}
export type Advice = Status["advice"][number];
export type ApiKey = Schemas["ListedApiKey"];
export type Approval = Schemas["ApprovalView"];
export type ApprovalPolicy = Schemas["ApprovalPolicyView"];
export type AuditEntry = Schemas["LineView"];
export type BusinessSsoReturn = Schemas["CompleteBusinessSso"];
export type Business = Schemas["BusinessInList"];
export type BusinessDetails = Schemas["BusinessDetails"];
export type BusinessHealth = Schemas["HealthView"];
export type Closing = Schemas["ClosingView"];
export type OpenItem = Schemas["OpenItem"];
export type OpenItems = Schemas["OpenItems"];
export type Challenge = Schemas["ChallengeView"];
export type CreatedApiKey = Schemas["CreatedApiKey"];
export type Enrolment = Schemas["EnrolmentView"];
export type ErrorBody = Schemas["Error"];
export type Factor = Schemas["FactorView"];
export type FieldError = Schemas["Fault"];
export type FoundOrder = Schemas["FoundOrderView"];
export type GroupRole = Schemas["GroupRole"];
export type GoLiveItem = Status["goLive"]["items"][number];
export type Indicator = Schemas["IndicatorView"];
export type IndicatorName = keyof Schemas["IndicatorsView"];
export type Invitation = Schemas["InvitationView"];
export type InvitationPreview = Schemas["FoundView"];
export type KeyScope = Schemas["KeyScope"];
export type Membership = Schemas["MembershipView"];
export type Mode = Schemas["Mode"];
export type NewApiKey = Schemas["CreateApiKey"];
export type OperatorAuditEntry = Schemas["OperatorLineView"];
export type OperatorPermission = Schemas["OperatorPermission"];
export type OperatorRole = Schemas["OperatorRole"];
export type OperatorSession = Schemas["OperatorSessionView"];
export type OperatorToken = Schemas["OperatorTokenView"];
export type OpenSession = Schemas["OwnSessionView"];
export type Passkey = Schemas["PasskeyView"];
export type Permission = Schemas["Permission"];
export type SsoProvider = Schemas["SsoProviderView"];
export type SsoReturn = Schemas["CompleteSso"];
export type PortalConfig = Schemas["ConfigView"];
export type PortalPart = Schemas["Part"];
export type PutSingleSignOn = Schemas["PutSingleSignOn"];
export type RemovedUser = Schemas["RemovedUser"];
export type Role = Schemas["Role"];
export type Session = Schemas["SessionView"];
export type Staff = Schemas["StaffView"];
export type StaffLink = Schemas["StaffLinkView"];
export type Status = Schemas["StatusView"];
export type User = Schemas["UserView"];
