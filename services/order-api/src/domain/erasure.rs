//! Which orders may be erased, and the progress of a business's erasure.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::{BusinessId, DeliveryState, Mode, OrderId};
use serde_json::Value;

use super::Placement;

/// Which orders an erasure includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// On request: completed orders, and orders that were never placed.
    Completed,
    /// Retention: orders without a change since then that are completed, failed or never placed, and test orders in any
    /// state.
    UnchangedSince(DateTime<Utc>),
    /// Of a closed business: orders in any state. An undecided payment decides first whether there is an order.
    Everything,
}

/// An order with personal data.
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
    pub fn includes(self, order: &Erasable) -> bool {
        let has_ended = match order.placement {
            Placement::Placed => order.state.is_completed(),
            Placement::Released => true,
            Placement::PendingPayment => false,
        };
        match self {
            Self::Completed => has_ended,
            Self::Everything => order.placement != Placement::PendingPayment,
            Self::UnchangedSince(since) => {
                let failed = order.state.status == domain::DeliveryStatus::Failed;
                order.updated_at < since && (has_ended || failed || order.mode == Mode::Test)
            }
        }
    }
}

/// A request to erase all completed orders of a business, or all its orders, and its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusinessErasure {
    pub business_id: BusinessId,
    pub requested_at: DateTime<Utc>,
    /// The last processed order.
    pub after: OrderId,
    pub erased: i64,
    pub not_completed: i64,
    pub completed_at: Option<DateTime<Utc>>,
    /// Whether it includes orders that are not completed.
    pub everything: bool,
}

impl BusinessErasure {
    /// Of the completed orders, without progress.
    pub fn new(business_id: BusinessId, requested_at: DateTime<Utc>) -> Self {
        let after = OrderId::first_of(DateTime::UNIX_EPOCH);
        let (completed_at, everything) = (None, false);
        Self { business_id, requested_at, after, erased: 0, not_completed: 0, completed_at, everything }
    }

    pub fn scope(&self) -> Scope {
        if self.everything { Scope::Everything } else { Scope::Completed }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use domain::{CodStatus, DeliveryStatus, PaymentType};

    use super::*;

    fn order(status: DeliveryStatus, picked_up: bool) -> Erasable {
        let at = DateTime::UNIX_EPOCH;
        Erasable {
            id: OrderId::first_of(at),
            business_id: BusinessId::first_of(at),
            mode: Mode::Live,
            placement: Placement::Placed,
            state: DeliveryState {
                status,
                cod: CodStatus::Pending,
                picked_up,
                payment: PaymentType::Cod,
                failed_attempts: 0,
            },
            details: Arc::new(Value::Null),
            updated_at: at,
        }
    }

    #[test]
    fn only_orders_that_have_ended_are_included_unless_the_business_is_closed() {
        let later = Scope::UnchangedSince(DateTime::UNIX_EPOCH + TimeDelta::seconds(1));
        let too_young = Scope::UnchangedSince(DateTime::UNIX_EPOCH);
        for (status, picked_up, completed, overdue) in [
            (DeliveryStatus::Created, false, false, false),
            (DeliveryStatus::DriverAssigned, false, false, false),
            (DeliveryStatus::PickedUp, true, false, false),
            (DeliveryStatus::OutForDelivery, true, false, false),
            (DeliveryStatus::Delivered, true, true, true),
            (DeliveryStatus::Failed, false, true, true),
            // It may still be returned, unless it has not changed for long enough.
            (DeliveryStatus::Failed, true, false, true),
            (DeliveryStatus::Cancelled, false, true, true),
            (DeliveryStatus::Returned, true, true, true),
        ] {
            let live = order(status, picked_up);
            assert_eq!(Scope::Completed.includes(&live), completed, "{status}");
            assert_eq!(later.includes(&live), overdue, "{status}");
            assert!(!too_young.includes(&live), "{status}");
            let test = Erasable { mode: Mode::Test, ..live.clone() };
            assert_eq!(
                (Scope::Completed.includes(&test), later.includes(&test)),
                (completed, true),
                "{status}"
            );
            assert!(Scope::Everything.includes(&live) && Scope::Everything.includes(&test), "{status}");
            let pending =
                Erasable { placement: Placement::PendingPayment, ..order(DeliveryStatus::Created, false) };
            for scope in [Scope::Completed, later, Scope::Everything] {
                assert!(!scope.includes(&pending), "{scope:?}");
            }
            let released = Erasable { placement: Placement::Released, ..pending };
            for scope in [Scope::Completed, later, Scope::Everything] {
                assert!(scope.includes(&released), "{scope:?}");
            }
        }
    }
}
