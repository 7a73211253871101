//! Lists of orders: filters and positions.

use std::ops::Range;

use chrono::{DateTime, Utc};
use domain::{CodStatus, DeliveryStatus, Mode, OrderId, PaymentType, TrackingCode};

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
    pub cod_status: Option<CodStatus>,
    pub payment_type: Option<PaymentType>,
    /// Inclusive.
    pub created_from: Option<DateTime<Utc>>,
    /// Exclusive.
    pub created_until: Option<DateTime<Utc>>,
    pub updated_after: Option<DateTime<Utc>>,
    /// A text in the search box.
    pub search: Option<SearchText>,
    /// Only these orders: the result of a search.
    pub among: Option<Vec<OrderId>>,
}

/// A text in the search box.
#[derive(Clone, Debug)]
pub struct SearchText {
    pub text: String,
    /// Whether it may find phones, which some roles see masked.
    pub sees_phones: bool,
}

impl OrderFilter {
    /// The ids of orders of the period.
    pub fn created_ids(&self) -> Range<OrderId> {
        let until = self.created_until.map_or(OrderId::MAX, OrderId::first_of);
        OrderId::first_of(self.created_from.unwrap_or_default())..until
    }

    /// Whether a list along the newest orders might read many to find a few, or all: no index sorts the orders of both modes.
    pub fn is_narrow(&self) -> bool {
        let is_one = self.order_reference.is_some() || self.tracking_code.is_some();
        let has_states = self.status.is_some() || self.cod_status.is_some() || self.payment_type.is_some();
        let has_period = self.created_from.is_some() || self.created_until.is_some();
        let is_part = self.search.is_some() || has_states || has_period || self.mode.is_none();
        !is_one && self.updated_after.is_none() && is_part
    }
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
    /// The last order that a search has looked at, when it ends before the page is full.
    pub continue_after: Option<OrderId>,
}

/// Which live orders to list for the fleet.
#[derive(Clone, Copy, Debug, Default)]
pub struct FleetFilter {
    pub status: Option<DeliveryStatus>,
    pub updated_after: Option<DateTime<Utc>>,
    pub after: Option<ChangePosition>,
}
