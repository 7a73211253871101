//! Pages of lists that are sorted by the last change, and their cursors.
//!
//! An order that changes between two pages moves in the list. So the cursor is the position at the end of a page, not
//! the order at that position.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use domain::OrderId;
use internal_api::orders::OrderView;
use serde::Serialize;
use utoipa::ToSchema;

use super::views::{self, FleetOrderView, fleet_view};
use crate::domain::{AttemptRules, ChangePosition, FoundOrders, TrackingUrls};

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
    /// `start` is where this page starts. An empty page ends there too.
    pub(super) fn new(found: FoundOrders, start: Option<ChangePosition>) -> Self {
        let next = end(&found).or(start).map(|position| FleetCursor::At(position).text());
        Self { data: found.orders.into_iter().map(fleet_view).collect(), has_more: found.has_more, next }
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
    /// The `startingAfter` of the next page, while more orders may follow: with `updatedAfter`, or when a search ends before the
    /// page is full, which may even be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl OrderPage {
    pub(super) fn newest(tracking_urls: &TrackingUrls, rules: AttemptRules, found: FoundOrders) -> Self {
        let next = found.continue_after.map(|id| id.to_string());
        let view = |order| views::order_view(tracking_urls, rules, order);
        let data = found.orders.into_iter().map(view).collect();
        Self { data, has_more: found.has_more, next }
    }

    pub(super) fn changed(tracking_urls: &TrackingUrls, rules: AttemptRules, found: FoundOrders) -> Self {
        let end = end(&found).filter(|_| found.has_more);
        let next = end.map(|position| FleetCursor::At(position).text());
        Self { next, ..Self::newest(tracking_urls, rules, found) }
    }
}

fn end(found: &FoundOrders) -> Option<ChangePosition> {
    found.orders.last().map(ChangePosition::of)
}

/// A value of `startingAfter`.
#[derive(Debug, PartialEq)]
pub(super) enum FleetCursor {
    /// `next` of the previous page.
    At(ChangePosition),
    /// The current position of an order. Orders that moved past it since are omitted.
    Order(OrderId),
}

impl FleetCursor {
    const PREFIX: &str = "at_";

    /// `None`: the text is neither of them.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let Some(packed) = text.strip_prefix(Self::PREFIX) else {
            return text.parse().ok().map(Self::Order);
        };
        let plain = String::from_utf8(URL_SAFE_NO_PAD.decode(packed).ok()?).ok()?;
        let (micros, id) = plain.split_once(' ')?;
        let updated_at = DateTime::<Utc>::from_timestamp_micros(micros.parse().ok()?)?;
        // PostgreSQL has no time before 4714 BC, and refuses it with an error.
        let updated_at = (updated_at >= DateTime::UNIX_EPOCH).then_some(updated_at)?;
        Some(Self::At(ChangePosition { updated_at, id: id.parse().ok()? }))
    }

    fn text(&self) -> String {
        match self {
            Self::Order(id) => id.to_string(),
            Self::At(ChangePosition { updated_at, id }) => {
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
    fn cursors_are_parsed_as_they_are_written() {
        let id = OrderId::generate(&Clock::manual(DateTime::UNIX_EPOCH), &Entropy::seeded(1));
        let updated_at = DateTime::UNIX_EPOCH + TimeDelta::microseconds(1_769_851_800_123_456);
        for cursor in [FleetCursor::At(ChangePosition { updated_at, id }), FleetCursor::Order(id)] {
            assert_eq!(FleetCursor::parse(&cursor.text()), Some(cursor));
        }
        for bad in ["", "at_", "at_!", "at_MTIz", "at_MTIz IA", "ord_", "1", "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV"]
        {
            assert_eq!(FleetCursor::parse(bad), None, "{bad}");
        }
    }
}
