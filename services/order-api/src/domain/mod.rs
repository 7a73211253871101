//! The decisions of this service, without I/O.

mod activity;
mod after_failure;
mod cash;
mod differences;
mod draft;
mod erasure;
mod evidence;
mod exceptions;
mod feed;
mod field_names;
mod fingerprint;
mod json_size;
mod listing;
mod order;
mod personal_data;
mod placement;
mod plausibility;
mod postponed;
mod search;
mod simulation;
mod states;
mod warnings;

pub use activity::{
    Activity, BusinessActivity, LiveOrders, LiveOrdersQuery, OpenOrders, RecentOrders, RetryProof,
    TestedRetries,
};
pub use after_failure::{
    AttemptRules, Decided, Decision, PaidAttempts, Refusal, SeenDecision, attempt_to_pay, reattempt_days,
};
pub use cash::CashReports;
pub use differences::differences;
pub use draft::{
    Corrected, Correction, Customer, Delivery, Item, Notes, OrderDraft, Package, Payment, Pickup, Place,
    corrections, without_corrections,
};
pub use erasure::{BusinessErasure, Erasable, Scope};
pub use evidence::{
    AttemptFacts, AttemptRecord, CodeCheck, DeliveryCode, Evidence, PersonalFacts, are_intact,
};
pub use exceptions::{Deadlines, DecisionFilter, ExceptionCounts, ExceptionKind, FoundExceptions, Patience};
pub use feed::{EventSearch, FeedEvent, FeedFilter, FeedPosition, FeedSlice, FoundEvents};
pub use field_names::{meant_field, order_fields};
pub use fingerprint::Fingerprint;
pub use json_size::json_size;
pub use listing::{ChangePosition, FleetFilter, FoundOrders, ListStart, OrderFilter, SearchText};
pub use order::{AcceptedOrder, NewOrder, Order, OrderEvent, OrderFinancials, OrderSummary, TrackingUrls};
pub use personal_data::without_personal_data;
pub use placement::{ExistingOrder, Placement, RequestIdentity, Resolution};
pub use plausibility::{warn_of_amounts, warn_of_place};
pub use postponed::Postponed;
pub use search::{Searchable, is_code_of, is_to_city, search_query, searched_id};
pub use simulation::{Scenario, Simulation};
pub use warnings::{Warning, Warnings};
