//! This service's own decisions, free of I/O.

mod cash;
mod differences;
mod draft;
mod erasure;
mod field_names;
mod fingerprint;
mod order;
mod personal_data;
mod plausible;
mod retry;
mod simulation;
mod warnings;

pub use cash::CashReports;
pub use differences::differences;
pub use draft::{Customer, Delivery, Item, Notes, OrderDraft, Package, Payment, Pickup, Place};
pub use erasure::{BusinessErasure, Erasable, Scope};
pub use field_names::{meant_field, order_fields};
pub use fingerprint::Fingerprint;
pub use order::{Accepted, Claim, NewOrder, Order, OrderEvent, Placement, Said};
pub use personal_data::without_personal_data;
pub use plausible::{warn_of_amounts, warn_of_place};
pub use retry::{FailedRequest, KeyHash, PlacedRequest, Replay, Retry, RetryProof, made_good};
pub use simulation::{Scenario, Simulation};
pub use warnings::{Warning, Warnings};
