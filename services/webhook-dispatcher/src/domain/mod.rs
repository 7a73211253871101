//! Pure rules of webhook delivery: no I/O, no clock of their own.

mod announcement;
mod breaker;
mod delivery;
mod encryption_keys;
mod endpoint;
mod failing;
mod failure;
mod forgery;
mod last_status;
mod log;
mod recovery;
mod retry;
mod secrets;
mod sequence;
mod signature_check;
mod slots;
mod webhook_event;

pub(crate) use announcement::{AnnouncementSubject, EndpointAnnouncement};
pub(crate) use breaker::{Breaker, Sample};
pub(crate) use delivery::{
    Attempt, Delivery, DeliveryState, LatestAttempt, NO_HEADERS, OrderDelivery, TimelineCursor,
};
pub(crate) use encryption_keys::{EncryptionKey, EncryptionKeys, InvalidKey};
pub(crate) use endpoint::{
    ConnectionTest, ENDPOINTS_MAX, Endpoint, EndpointFacts, EndpointHealth, EndpointStatus, EndpointsSummary,
    SentNotice, status, summary,
};
pub(crate) use failing::{DISABLED_PERCENT, ParkedDecision, notices_due};
pub(crate) use failure::{Failure, ProxyFault};
pub(crate) use forgery::{ForgeryTest, is_refusal, problem as forgery_problem};
pub(crate) use last_status::{StatusFilter, last_status, shown_status};
pub(crate) use log::{DeliveryFilter, LogPage};
pub(crate) use recovery::{Recovery, RecoveryState};
pub use retry::RetrySchedule;
pub(crate) use retry::retry_after;
pub(crate) use secrets::{EncryptedSecret, EncryptedSecrets, SigningSecrets, StagedSecret};
pub(crate) use sequence::{HELD_BACK_MAX, Plan, Source, plan};
pub(crate) use signature_check::{Evidence, Findings, Problem, Scheme, check as check_signature};
pub(crate) use slots::{Kind, Shares, Slots, Speed};
pub(crate) use webhook_event::{Incoming, Subject, WebhookEvent};
