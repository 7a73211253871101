//! Pure rules of this service.

mod advice;
mod approval;
mod audit;
mod business;
mod business_change;
mod business_sso;
pub(crate) mod color;
pub(crate) mod csv;
mod factor_policy;
pub(crate) mod indicators;
pub(crate) mod limits;
mod links;
mod masked_text;
mod masking;
mod operator;
mod operator_audit;
mod origin;
mod people;
mod pickup_profile;
mod problems;
mod region;
mod reports;
mod role;
mod search_digest;
mod session;
mod site;
mod staff;
mod subscription;
mod user_key;
mod web_address;

pub(crate) use advice::{Advice, Evidence, Proof, advice};
pub(crate) use approval::{
    Approval, ApprovalCaller, ApprovalFilter, ApprovalKind, ApprovalPolicy, ApprovalRefusal, ApprovalState,
    Decision, ProtectedAction, RELATED_FOR, SuspensionLift, WalletDebit, are_related,
};
pub(crate) use audit::{
    Action, Actor, AuditEntry, AuditEvent, AuditFilter, AuditTarget, Author, Target, TargetKind,
};
pub(crate) use business::{
    Business, BusinessFilter, BusinessStatus, DoneSince, GoLiveFact, ListedBusiness, Standing,
};
pub(crate) use business_change::BusinessChange;
pub(crate) use business_sso::{BusinessSso, CompanyDomain, SsoAccess, SsoProvider, may_use_password};
pub(crate) use factor_policy::FactorPolicy;
pub(crate) use links::Links;
pub(crate) use masked_text::HIDDEN;
pub(crate) use masking::Mask;
pub(crate) use operator::{OperatorActor, OperatorCaller, OperatorPermission, OperatorRole};
pub(crate) use operator_audit::{AuditRetention, OperatorEntry, OperatorFilter};
pub(crate) use origin::Origins;
pub(crate) use people::{EmailConfirmation, EmailState, Invitation, Membership, User, UserAccount};
pub(crate) use pickup_profile::PickupProfile;
pub(crate) use problems::{Problem, problems};
pub use region::Locale;
pub(crate) use region::RegionFormat;
pub(crate) use reports::{
    ConnectionTest, EndpointReport, EndpointStatus, KeysReport, WalletReport, WebhooksReport,
};
pub(crate) use role::{Permission, Role};
pub(crate) use search_digest::search_digest;
pub(crate) use session::Session;
pub(crate) use site::{Part, Site};
pub(crate) use staff::{
    LogInWays, NewStaff, OperatorSecret, OperatorToken, Staff, StaffIdentity, TokenGrace,
};
pub(crate) use subscription::{Subscription, SubscriptionState};
pub(crate) use user_key::UserKey;
pub(crate) use web_address::has_web_address;
