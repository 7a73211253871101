//! This service's own pure decisions.

mod addresses;
mod breaker;
mod delivery;
mod endpoint;
mod erased;
mod failing;
mod failure;
mod forgery;
mod last_status;
mod name_servers;
mod recovery;
mod retry;
mod sequence;
mod shares;
mod signature_check;
mod url_rule;
mod webhook_event;

pub use addresses::AddressRanges;
pub(crate) use addresses::{Policy, Refused};
pub(crate) use breaker::{Breaker, Sample};
pub(crate) use delivery::{Attempt, Delivery, LatestAttempt, NO_HEADERS, OrderDelivery};
pub(crate) use endpoint::{
    ENDPOINTS_MAX, Endpoint, EndpointFacts, Told, Trouble, last_delivery, status, summary,
};
pub(crate) use erased::erased_body;
pub(crate) use failing::{DISABLED_PERCENT, ParkedFate, notices_due};
pub(crate) use failure::Failure;
pub(crate) use forgery::{Forgery, is_refusal, problem as forgery_problem};
pub(crate) use last_status::{StatusFilter, last_status, shown_status};
pub use name_servers::NameServers;
pub(crate) use recovery::Recovery;
pub use retry::RetrySchedule;
pub(crate) use retry::retry_after;
pub(crate) use sequence::{PARKED_MAX, Plan, Source, plan};
pub(crate) use shares::{Places, Shares};
pub(crate) use signature_check::{Evidence, Findings, Problem, Scheme, check as check_signature};
pub(crate) use url_rule::{UrlError, parse_url};
pub(crate) use webhook_event::{Incoming, Subject, WebhookEvent};
