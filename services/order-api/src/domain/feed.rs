//! The events feed of a business.

use chrono::{DateTime, Utc};
use domain::{EventId, EventKind, Mode, OrderId, TrackingCode};

use super::OrderEvent;

/// A position in the feed: before all events of a time, or after one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeedPosition {
    pub at: DateTime<Utc>,
    /// The order and sequence of the event before this position.
    pub after: Option<(OrderId, i64)>,
}

/// 9999-12-31T23:59:59Z.
const LAST_TIME: DateTime<Utc> = DateTime::from_timestamp(253_402_300_799, 0).unwrap();

impl FeedPosition {
    pub const BEGINNING: Self = Self::before(DateTime::UNIX_EPOCH);

    /// After all events, within the years that PostgreSQL stores.
    pub const END: Self = Self::before(LAST_TIME);

    /// Before all events of this time.
    pub const fn before(at: DateTime<Utc>) -> Self {
        Self { at, after: None }
    }

    /// This position, unless `time` is later.
    pub fn or_from(self, time: DateTime<Utc>) -> Self {
        if time > self.at { Self::before(time) } else { self }
    }
}

/// The events that a reader wants.
#[derive(Clone, Debug)]
pub struct FeedFilter {
    pub mode: Mode,
    /// All kinds if there is none.
    pub kinds: Option<Vec<EventKind>>,
}

/// The events that a user of the portal wants.
#[derive(Clone, Debug, Default)]
pub struct EventSearch {
    pub mode: Option<Mode>,
    pub kind: Option<EventKind>,
    /// Only events of these orders.
    pub orders: Option<Vec<OrderId>>,
}

/// Events, newest first.
#[derive(Clone, Debug)]
pub struct FoundEvents {
    pub events: Vec<FeedEvent>,
    /// The last read event, if events after it may be wanted.
    pub continue_after: Option<EventId>,
}

/// An event with what its webhook shows of its order.
#[derive(Clone, Debug)]
pub struct FeedEvent {
    /// After this event.
    pub position: FeedPosition,
    pub event: OrderEvent,
    pub mode: Mode,
    pub order_reference: String,
    pub tracking_code: TrackingCode,
    /// When personal data was removed from this event.
    pub personal_data_erased_at: Option<DateTime<Utc>>,
}

/// A part of the feed.
#[derive(Clone, Debug)]
pub struct FeedSlice {
    pub events: Vec<FeedEvent>,
    /// The position after the last read event, wanted or not. None if nothing was read.
    pub end: Option<FeedPosition>,
    /// Whether the rest of the feed may contain wanted events.
    pub has_more: bool,
    /// No more events can appear before this time.
    pub complete_until: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn the_later_one_of_position_and_time_counts() {
        let noon = DateTime::UNIX_EPOCH + TimeDelta::hours(12);
        let after_an_event = FeedPosition { at: noon, after: Some((OrderId::MAX, 1)) };
        assert_eq!(after_an_event.or_from(noon), after_an_event);
        assert_eq!(after_an_event.or_from(noon - TimeDelta::hours(1)), after_an_event);
        let later = noon + TimeDelta::microseconds(1);
        assert_eq!(after_an_event.or_from(later), FeedPosition::before(later));
    }
}
