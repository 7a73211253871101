//! This service's own pure decisions.

mod attempts;
mod business;
pub(crate) mod csv;
pub(crate) mod indicators;
mod origin;
mod password;
mod session;
mod subscription;

pub(crate) use ::domain::Email;
pub(crate) use ::web::CallerAddress;
pub(crate) use attempts::{Scope, Subject, wait_until_allowed};
pub(crate) use business::{Business, BusinessStatus, Standing};
pub(crate) use origin::Origins;
pub(crate) use password::Password;
pub(crate) use session::{Session, SessionToken, expiry, is_due_for_extension, oldest_session_start};
pub(crate) use subscription::{Subscription, SubscriptionState};
