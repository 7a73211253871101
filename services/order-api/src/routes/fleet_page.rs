//! Pages of the fleet's list, and of a business's when it goes by changes, and where the next one begins.
//!
//! An order's place in the list is its last change, so an order that changes between two pages moves. The cursor is the place
//! itself, as it was when the page was cut, and not the order that stood there.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use domain::OrderId;
use internal_api::Page;
use internal_api::orders::OrderView;
use serde::Serialize;
use utoipa::ToSchema;

use super::views::{self, FleetOrderView, fleet_view};
use crate::app::Ambient;
use crate::domain::Order;
use crate::store::fleet::FleetPosition;

/// A page of orders by their last change, oldest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FleetOrderList)]
pub(super) struct FleetPage {
    data: Vec<FleetOrderView>,
    /// Whether more orders follow now.
    has_more: bool,
    /// The `startingAfter` of the next page, now or later. Left out while a list without a beginning is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl FleetPage {
    /// `after` is where this page began, and the next one begins too when this one is empty.
    pub(super) fn new(page: Page<Order>, after: Option<FleetPosition>) -> Self {
        let next = end(&page).or(after).map(|position| FleetCursor::At(position).text());
        Self { data: page.data.into_iter().map(fleet_view).collect(), has_more: page.has_more, next }
    }
}

/// A page of orders: newest first, or with `updatedAfter` by their last change, oldest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OrderList)]
pub(super) struct OrderPage {
    data: Vec<OrderView>,
    /// Whether more orders follow; continue with `startingAfter` set to `next`, or to the last id if there is no `next`.
    has_more: bool,
    // Unlike the fleet's list, this one does not wait until no earlier change can come, so its end is no place to wait at.
    /// The `startingAfter` of the next page. Only with `updatedAfter`, while more orders follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl OrderPage {
    pub(super) fn newest(ambient: &Ambient, page: Page<Order>) -> Self {
        let data = page.data.into_iter().map(|order| views::order_view(ambient, order)).collect();
        Self { data, has_more: page.has_more, next: None }
    }

    pub(super) fn changed(ambient: &Ambient, page: Page<Order>) -> Self {
        let end = end(&page).filter(|_| page.has_more);
        let next = end.map(|position| FleetCursor::At(position).text());
        Self { next, ..Self::newest(ambient, page) }
    }
}

fn end(page: &Page<Order>) -> Option<FleetPosition> {
    page.data.last().map(|last| FleetPosition { updated_at: last.updated_at, id: last.id })
}

/// What `startingAfter` may be.
#[derive(Debug, PartialEq)]
pub(super) enum FleetCursor {
    /// `next` of the page before.
    At(FleetPosition),
    /// An order, which stands for its place as it is now. What passed it meanwhile is left out.
    Order(OrderId),
}

impl FleetCursor {
    const PREFIX: &str = "at_";

    /// `None` for what is neither.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let Some(packed) = text.strip_prefix(Self::PREFIX) else {
            return text.parse().ok().map(Self::Order);
        };
        let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(packed).ok()?).ok()?;
        let (micros, id) = plain.split_once(' ')?;
        let updated_at = DateTime::<Utc>::from_timestamp_micros(micros.parse().ok()?)?;
        Some(Self::At(FleetPosition { updated_at, id: id.parse().ok()? }))
    }

    fn text(&self) -> String {
        match self {
            Self::Order(id) => id.to_string(),
            Self::At(FleetPosition { updated_at, id }) => {
                let plain = format!("{} {id}", updated_at.timestamp_micros());
                format!("{}{}", Self::PREFIX, URL_SAFE_NO_PAD.encode(plain))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;
    use domain::{Clock, Entropy};

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() {
        let id = OrderId::generate(&Clock::manual(DateTime::UNIX_EPOCH), &Entropy::seeded(1));
        let updated_at = DateTime::UNIX_EPOCH + TimeDelta::microseconds(1_769_851_800_123_456);
        for cursor in [FleetCursor::At(FleetPosition { updated_at, id }), FleetCursor::Order(id)] {
            assert_eq!(FleetCursor::parse(&cursor.text()), Some(cursor));
        }
        for bad in ["", "at_", "at_!", "at_MTIz", "at_MTIz IA", "ord_", "1", "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV"]
        {
            assert_eq!(FleetCursor::parse(bad), None, "{bad}");
        }
    }
}
