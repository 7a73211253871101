//! The decisions of this service, without I/O.

mod activity;
mod cash;
mod differences;
mod draft;
mod erasure;
mod feed;
mod field_names;
mod financials;
mod fingerprint;
mod listing;
mod order;
mod personal_data;
mod placement;
mod plausibility;
mod postponed;
mod retry_evidence;
mod simulation;
mod tracking_urls;
mod warnings;

pub use activity::Activity;
pub use cash::CashReports;
pub use differences::differences;
pub use draft::{Customer, Delivery, Item, Notes, OrderDraft, Package, Payment, Pickup, Place};
pub use erasure::{BusinessErasure, Erasable, Scope};
pub use feed::{EventSearch, FeedEvent, FeedFilter, FeedPosition, FeedSlice, FoundEvents};
pub use field_names::{meant_field, order_fields};
pub use financials::OrderFinancials;
pub use fingerprint::Fingerprint;
pub use listing::{ChangePosition, FleetFilter, FoundOrders, ListStart, OrderFilter};
pub use order::{AcceptedOrder, NewOrder, Order, OrderEvent, OrderSummary};
pub use personal_data::without_personal_data;
pub use placement::{ExistingOrder, Placement, RequestIdentity, Resolution};
pub use plausibility::{warn_of_amounts, warn_of_place};
pub use postponed::Postponed;
pub use retry_evidence::{
    FailedRequest, KeyHash, PlacedRequest, Replay, RetryKind, RetryProof, first_retry_after_failure,
};
pub use simulation::{Scenario, Simulation};
pub use tracking_urls::TrackingUrls;
pub use warnings::{Warning, Warnings};
