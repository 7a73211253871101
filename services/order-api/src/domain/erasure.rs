//! Whose personal data may be erased, and how far the erasure of a business's orders is.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::{BusinessId, DeliveryState, Mode, OrderId};
use serde_json::Value;

use super::Placement;

/// Which orders an erasure takes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those that are over, for who wants it: completed, or never placed.
    Completed,
    /// Those that have not changed since then, and those alone: completed ones, failed ones that were never returned, test
    /// orders wherever they stand, and what was never placed.
    UnchangedSince(DateTime<Utc>),
}

/// An order that still tells of people.
#[derive(Clone, Debug)]
pub struct Erasable {
    pub id: OrderId,
    pub business_id: BusinessId,
    pub mode: Mode,
    pub placement: Placement,
    pub state: DeliveryState,
    pub details: Arc<Value>,
    pub updated_at: DateTime<Utc>,
}

impl Scope {
    pub fn takes(self, order: &Erasable) -> bool {
        let over = match order.placement {
            Placement::Placed => order.state.is_completed(),
            Placement::Released => true,
            Placement::PendingPayment => false,
        };
        match self {
            Self::Completed => over,
            Self::UnchangedSince(since) => {
                let failed = order.state.status == domain::DeliveryStatus::Failed;
                order.updated_at < since && (over || failed || order.mode == Mode::Test)
            }
        }
    }
}

/// A business's wish to have all its completed orders erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusinessErasure {
    pub business_id: BusinessId,
    pub requested_at: DateTime<Utc>,
    /// Orders up to this one were looked at.
    pub after: OrderId,
    pub erased: i64,
    pub not_completed: i64,
    pub completed_at: Option<DateTime<Utc>>,
}

impl BusinessErasure {
    /// Nothing of it is done yet.
    pub fn new(business_id: BusinessId, requested_at: DateTime<Utc>) -> Self {
        let after = OrderId::first_of(DateTime::UNIX_EPOCH);
        Self { business_id, requested_at, after, erased: 0, not_completed: 0, completed_at: None }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use domain::{CodStatus, DeliveryStatus};

    use super::*;

    fn order(status: DeliveryStatus, picked_up: bool) -> Erasable {
        let at = DateTime::UNIX_EPOCH;
        Erasable {
            id: OrderId::first_of(at),
            business_id: BusinessId::first_of(at),
            mode: Mode::Live,
            placement: Placement::Placed,
            state: DeliveryState { status, cod: CodStatus::Pending, picked_up },
            details: Arc::new(Value::Null),
            updated_at: at,
        }
    }

    #[test]
    fn what_is_under_way_is_never_taken_and_what_is_over_is() {
        let later = Scope::UnchangedSince(DateTime::UNIX_EPOCH + TimeDelta::seconds(1));
        let too_young = Scope::UnchangedSince(DateTime::UNIX_EPOCH);
        for (status, picked_up, completed, overdue) in [
            (DeliveryStatus::Created, false, false, false),
            (DeliveryStatus::DriverAssigned, false, false, false),
            (DeliveryStatus::PickedUp, true, false, false),
            (DeliveryStatus::OutForDelivery, true, false, false),
            (DeliveryStatus::Delivered, true, true, true),
            (DeliveryStatus::Failed, false, true, true),
            // It may be returned yet, until nothing was heard of it for long enough.
            (DeliveryStatus::Failed, true, false, true),
            (DeliveryStatus::Cancelled, false, true, true),
            (DeliveryStatus::Returned, true, true, true),
        ] {
            let live = order(status, picked_up);
            assert_eq!(Scope::Completed.takes(&live), completed, "{status}");
            assert_eq!(later.takes(&live), overdue, "{status}");
            assert!(!too_young.takes(&live), "{status}");
            let test = Erasable { mode: Mode::Test, ..live.clone() };
            assert_eq!((Scope::Completed.takes(&test), later.takes(&test)), (completed, true), "{status}");
            let pending =
                Erasable { placement: Placement::PendingPayment, ..order(DeliveryStatus::Created, false) };
            assert!(!Scope::Completed.takes(&pending) && !later.takes(&pending));
            let released = Erasable { placement: Placement::Released, ..pending };
            assert!(Scope::Completed.takes(&released) && later.takes(&released));
        }
    }
}
