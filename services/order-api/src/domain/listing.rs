//! Lists of orders: filters and positions.

use chrono::{DateTime, Utc};
use domain::{DeliveryStatus, Mode, OrderId, TrackingCode};

use super::Order;

/// A position in a list that is sorted by the last change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePosition {
    pub updated_at: DateTime<Utc>,
    pub id: OrderId,
}

impl ChangePosition {
    /// Of this order.
    pub fn of(order: &Order) -> Self {
        Self { updated_at: order.updated_at, id: order.id }
    }

    /// After all changes of this time.
    pub fn after(time: DateTime<Utc>) -> Self {
        Self { updated_at: time, id: OrderId::MAX }
    }
}

/// Which orders of a business to list.
#[derive(Clone, Debug, Default)]
pub struct OrderFilter {
    pub mode: Option<Mode>,
    pub order_reference: Option<String>,
    pub tracking_code: Option<TrackingCode>,
    pub status: Option<DeliveryStatus>,
    pub updated_after: Option<DateTime<Utc>>,
    /// Only these orders: the result of a search.
    pub among: Option<Vec<OrderId>>,
}

/// The sort order of a business's list, and where the page starts.
#[derive(Clone, Copy, Debug)]
pub enum ListStart {
    /// Newest first, after this order.
    Newest(Option<OrderId>),
    /// By the last change, oldest first, after this position.
    Changed(Option<ChangePosition>),
}

impl ListStart {
    /// The same sort order, after this order.
    #[must_use]
    pub fn at(self, last: &Order) -> Self {
        match self {
            Self::Newest(_) => Self::Newest(Some(last.id)),
            Self::Changed(_) => Self::Changed(Some(ChangePosition::of(last))),
        }
    }
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct FoundOrders {
    pub orders: Vec<Order>,
    pub has_more: bool,
}

/// Which live orders to list for the fleet.
#[derive(Clone, Copy, Debug, Default)]
pub struct FleetFilter {
    pub status: Option<DeliveryStatus>,
    pub updated_after: Option<DateTime<Utc>>,
    pub after: Option<ChangePosition>,
}
