//! This service's own pure decisions.

mod advice;
mod attempts;
mod audit;
mod business;
pub(crate) mod colour;
pub(crate) mod csv;
mod health;
pub(crate) mod indicators;
mod known_browser;
mod links;
mod origin;
mod password;
mod region;
mod role;
mod secret_token;
mod session;
mod subscription;
mod web_address;

pub(crate) use ::domain::Email;
pub(crate) use ::web::CallerAddress;
pub(crate) use advice::{Advice, advice};
pub(crate) use attempts::{Scope, Subject, wait_until_allowed};
pub(crate) use audit::{Act, Action, Actor, Author, Target, TargetKind};
pub(crate) use business::{Business, BusinessStatus, DoneSince, Standing};
pub(crate) use health::{Problem, problems};
pub(crate) use known_browser::KnownBrowser;
pub(crate) use links::Links;
pub(crate) use origin::Origins;
pub(crate) use password::{Password, Unfit};
pub(crate) use region::Place;
pub(crate) use role::Role;
pub(crate) use secret_token::{LinkToken, SessionToken};
pub(crate) use session::{Session, expiry, is_due_for_extension, oldest_session_start};
pub(crate) use subscription::{Subscription, SubscriptionState};
pub(crate) use web_address::has_web_address;
