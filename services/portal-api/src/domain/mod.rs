//! Pure rules of this service.

pub(crate) mod color;
pub(crate) mod csv;
mod factor_policy;
pub(crate) mod limits;
mod links;
mod masked_text;
mod masking;
mod operator;
mod origin;
mod people;
mod region;
pub(crate) mod reports;
mod role;
mod search_digest;
mod session;
mod site;
mod user_key;
mod web_address;

pub(crate) use factor_policy::FactorPolicy;
pub(crate) use links::Links;
pub(crate) use masked_text::HIDDEN;
pub(crate) use masking::Mask;
pub(crate) use operator::{OperatorActor, OperatorCaller, OperatorPermission, OperatorRole};
pub(crate) use origin::Origins;
pub(crate) use people::{EmailConfirmation, EmailState, Invitation, Membership, User, UserAccount};
pub use region::Locale;
pub(crate) use region::RegionFormat;
pub(crate) use reports::{
    ConnectionTest, EndpointReport, EndpointStatus, KeysReport, WalletReport, WebhooksReport,
};
pub(crate) use role::{Permission, Role};
pub(crate) use search_digest::search_digest;
pub(crate) use session::Session;
pub(crate) use site::{Part, Site};
pub(crate) use user_key::UserKey;
pub(crate) use web_address::has_web_address;
