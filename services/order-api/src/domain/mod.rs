//! This service's own decisions, free of I/O.

mod draft;
mod fingerprint;
mod order;

pub use draft::{Customer, Delivery, Item, Notes, OrderDraft, Package, Payment, Pickup, Place, Warning};
pub use fingerprint::Fingerprint;
pub use order::{Claim, NewOrder, Order, OrderEvent, Placement};
