//! This service's own pure decisions.

mod address;
mod attempts;
mod business;
mod email;
pub(crate) mod indicators;
mod origin;
mod password;
mod phone;
mod session;
mod subscription;

pub(crate) use address::Address;
pub(crate) use attempts::{Scope, Subject, wait_until_allowed};
pub(crate) use business::{Business, BusinessStatus, Standing};
pub(crate) use email::Email;
pub(crate) use origin::Origins;
pub(crate) use password::Password;
pub(crate) use phone::{is_phone, is_pincode};
pub(crate) use session::{Session, SessionToken, expiry, is_due_for_extension, oldest_session_start};
pub(crate) use subscription::{Subscription, SubscriptionState};
