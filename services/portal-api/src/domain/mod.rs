//! Pure rules of this service.

mod advice;
mod approval;
mod attempts;
mod audit;
mod browser_name;
mod business;
mod business_change;
mod business_sso;
mod caller_address;
pub(crate) mod color;
pub(crate) mod csv;
pub(crate) mod indicators;
mod known_browser;
mod links;
mod masked_text;
mod masking;
mod operator;
mod operator_audit;
mod origin;
mod passkey;
mod password;
mod people;
mod pickup_profile;
mod problems;
mod region;
mod reports;
mod role;
mod search_digest;
mod second_factor;
mod secret_token;
mod session;
mod single_sign_on;
mod site;
mod staff;
mod subscription;
mod user_key;
mod web_address;

pub(crate) use ::domain::Email;
pub(crate) use advice::{Advice, Evidence, Proof, advice};
pub(crate) use approval::{
    Approval, ApprovalCaller, ApprovalFilter, ApprovalKind, ApprovalPolicy, ApprovalRefusal, ApprovalState,
    Decision, ProtectedAction, RELATED_FOR, SuspensionLift, WalletDebit, are_related,
};
pub(crate) use attempts::{Scope, Subject, retry_after};
pub(crate) use audit::{
    Action, Actor, AuditEntry, AuditEvent, AuditFilter, AuditTarget, Author, Target, TargetKind,
};
pub(crate) use browser_name::browser_name;
pub(crate) use business::{
    Business, BusinessFilter, BusinessStatus, DoneSince, GoLiveFact, ListedBusiness, Standing,
};
pub(crate) use business_change::BusinessChange;
pub(crate) use business_sso::{BusinessSso, CompanyDomain, SsoAccess, SsoProvider, may_use_password};
pub(crate) use caller_address::CallerAddress;
pub(crate) use known_browser::KnownBrowser;
pub(crate) use links::Links;
pub(crate) use masked_text::HIDDEN;
pub(crate) use masking::Mask;
pub(crate) use operator::{OperatorActor, OperatorCaller, OperatorPermission, OperatorRole};
pub(crate) use operator_audit::{AuditRetention, OperatorEntry, OperatorFilter};
pub(crate) use origin::Origins;
pub(crate) use passkey::{
    CEREMONY_LASTS, CeremonyKey, CeremonyPurpose, PASSKEYS_MAX, Passkey, RelyingParty, is_later_use,
};
pub(crate) use password::{Password, PasswordRejection};
pub(crate) use people::{
    Credentials, EmailConfirmation, EmailState, Invitation, Membership, User, UserAccount,
};
pub(crate) use pickup_profile::PickupProfile;
pub(crate) use problems::{Problem, problems};
pub use region::Locale;
pub(crate) use region::RegionFormat;
pub(crate) use reports::{
    ConnectionTest, EndpointReport, EndpointStatus, KeysReport, WalletReport, WebhooksReport,
};
pub(crate) use role::{Permission, Role};
pub(crate) use search_digest::search_digest;
pub(crate) use second_factor::{
    Account, CHALLENGE_LASTS, CHALLENGE_TRIES, FactorCode, FactorSecret, FactorStatus, Realm, RecoveryCode,
    is_recent,
};
pub(crate) use secret_token::{LinkToken, SecretToken, SessionToken};
pub(crate) use session::{Lifetimes, OpenAt, OpenSession, Session, SessionHolder};
pub(crate) use single_sign_on::{
    GroupRoles, SSO_AUTHENTICATION_LASTS, SSO_LASTS, SsoIdentity, SsoPurpose, SsoResponse, SsoResult,
    SsoSecrets, SsoSubject,
};
pub(crate) use site::{Part, Site};
pub(crate) use staff::{
    LogInWays, NewStaff, OperatorSecret, OperatorToken, Staff, StaffIdentity, TokenGrace,
};
pub(crate) use subscription::{Subscription, SubscriptionState};
pub(crate) use user_key::UserKey;
pub(crate) use web_address::has_web_address;
