//! The events feed of a business, oldest first.
//!
//! An event's position is the database's time when it was written, or the position of its predecessor in the order if
//! that is later. Only events before [`complete_until`] are read, so that no event appears before a position that a reader
//! has passed.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::result::OptionalExtension;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EventId, EventKind, Mode, OrderId};
use postgres::statement;

use super::fleet::complete_until;
use super::rows::OrderEventRow;
use super::{StoreError, corrupt};
use crate::domain::{EventSearch, FeedEvent, FeedFilter, FeedPosition, FeedSlice, FoundEvents};

/// How many events a call reads, wanted or not: another mode or other kinds may fill the feed.
const SCAN_MAX: i64 = 1_000;

#[derive(QueryableByName)]
struct FeedRow {
    #[diesel(embed)]
    event: OrderEventRow,
    #[diesel(sql_type = Timestamptz)]
    position: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    mode: String,
    #[diesel(sql_type = Text)]
    order_reference: String,
    #[diesel(sql_type = Text)]
    tracking_code: String,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    personal_data_erased_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Bool)]
    is_wanted: bool,
    /// Counts the read events from 1.
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// The columns of [`FeedRow`], of the event and of its order.
macro_rules! event_columns {
    () => {
        "order_events.order_id, order_events.sequence, order_events.event_id, order_events.business_id, order_events.kind,
        order_events.status, order_events.cod_status, order_events.data, order_events.occurred_at, order_events.recorded_at,
        order_events.personal_data_erased_at, order_events.feed_at AS position"
    };
}
macro_rules! order_columns {
    () => {
        "orders.mode, orders.order_reference, orders.tracking_code"
    };
}

macro_rules! feed_order {
    ($direction:literal) => {
        concat!("feed_at ", $direction, ", order_id ", $direction, ", sequence ", $direction)
    };
}

/// The wanted ones of the first `$6` events of a business in a range, at most `$9`. The last read one is included, wanted
/// or not.
macro_rules! scan {
    ($range:literal, $direction:literal, $is_wanted:literal) => {
        concat!(
            "WITH scanned AS (
                SELECT ",
            event_columns!(),
            ", row_number() OVER (ORDER BY ",
            feed_order!($direction),
            ") AS number
                FROM order_events
                WHERE business_id = $1 AND ",
            $range,
            " ORDER BY ",
            feed_order!($direction),
            " LIMIT $6
            ),
            judged AS (
                SELECT scanned.*, ",
            order_columns!(),
            ", ",
            $is_wanted,
            " AS is_wanted
                FROM scanned
                JOIN orders ON orders.id = scanned.order_id AND orders.business_id = $1
            )
            SELECT * FROM judged WHERE is_wanted OR number = $6 ORDER BY number LIMIT $9"
        )
    };
}

const SLICE: &str = scan!(
    "feed_at < $2 AND (feed_at, order_id, sequence) > ($3, $4, $5)",
    "ASC",
    "orders.mode = $7 AND ($8 IS NULL OR scanned.kind = ANY ($8))"
);

/// Reads the feed's index backwards.
const NEWEST: &str = scan!(
    "(feed_at, order_id, sequence) < ($2, $3, $4) AND $5 IS NULL",
    "DESC",
    "($7 IS NULL OR orders.mode = $7) AND ($8 IS NULL OR scanned.kind = $8)"
);
const NEWEST_OF_ORDERS: &str = scan!(
    "(feed_at, order_id, sequence) < ($2, $3, $4) AND order_id = ANY ($5)",
    "DESC",
    "($7 IS NULL OR orders.mode = $7) AND ($8 IS NULL OR scanned.kind = $8)"
);

/// The result of a scan.
struct Scanned {
    events: Vec<FeedEvent>,
    /// The last read event.
    last: Option<(EventId, FeedPosition)>,
    /// Whether wanted events may follow.
    has_more: bool,
}

impl Scanned {
    fn of(mut rows: Vec<FeedRow>, limit: usize) -> Result<Self, StoreError> {
        let has_more = rows.len() > limit || rows.last().is_some_and(|last| last.number == SCAN_MAX);
        rows.truncate(limit);
        let last = rows.last().map(|last| Ok::<_, StoreError>((last.event.event_id()?, last.end()?)));
        let last = last.transpose()?;
        let wanted = rows.into_iter().filter(|row| row.is_wanted);
        let events = wanted.map(FeedEvent::try_from).collect::<Result<_, _>>()?;
        Ok(Self { events, last, has_more })
    }
}

/// The order and sequence of a position. Those of a position before all events of its time are lower than any event's.
fn key(position: FeedPosition) -> (String, i64) {
    position.after.map_or((String::new(), 0), |(order, sequence)| (order.to_string(), sequence))
}

/// One more than a page, which shows whether more follow.
fn one_more_than(limit: usize) -> i64 {
    i64::try_from(limit + 1).unwrap_or(i64::MAX)
}

/// The wanted events after a position: at most `limit`, and at most those among the next [`SCAN_MAX`] events.
///
/// Needs a connection without a transaction, like [`complete_until`].
pub async fn slice(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &FeedFilter,
    start: FeedPosition,
    limit: usize,
) -> Result<FeedSlice, StoreError> {
    let complete_until = complete_until(conn).await?;
    let (order, sequence) = key(start);
    let kinds = filter.kinds.as_ref().map(|kinds| kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
    let rows: Vec<FeedRow> = statement(SLICE)
        .bind::<Text, _>(business.to_string())
        .bind::<Timestamptz, _>(complete_until)
        .bind::<Timestamptz, _>(start.at)
        .bind::<Text, _>(order)
        .bind::<BigInt, _>(sequence)
        .bind::<BigInt, _>(SCAN_MAX)
        .bind::<Text, _>(filter.mode.as_str())
        .bind::<Nullable<Array<Text>>, _>(kinds)
        .bind::<BigInt, _>(one_more_than(limit))
        .load(conn)
        .await?;
    let Scanned { events, last, has_more } = Scanned::of(rows, limit)?;
    Ok(FeedSlice { events, end: last.map(|(_, end)| end), has_more, complete_until })
}

/// The wanted events before a position, newest first: at most `limit`, and at most those among the next [`SCAN_MAX`].
/// Without a position, from the newest on.
pub async fn newest(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    EventSearch { mode, kind, orders }: &EventSearch,
    before: Option<FeedPosition>,
    limit: usize,
) -> Result<FoundEvents, StoreError> {
    let orders = orders.as_ref().map(|orders| orders.iter().map(OrderId::to_string).collect::<Vec<_>>());
    let before = before.unwrap_or(FeedPosition::END);
    let (order, sequence) = key(before);
    let rows: Vec<FeedRow> = statement(if orders.is_some() { NEWEST_OF_ORDERS } else { NEWEST })
        .bind::<Text, _>(business.to_string())
        .bind::<Timestamptz, _>(before.at)
        .bind::<Text, _>(order)
        .bind::<BigInt, _>(sequence)
        .bind::<Nullable<Array<Text>>, _>(orders)
        .bind::<BigInt, _>(SCAN_MAX)
        .bind::<Nullable<Text>, _>(mode.map(Mode::as_str))
        .bind::<Nullable<Text>, _>(kind.map(EventKind::as_str))
        .bind::<BigInt, _>(one_more_than(limit))
        .load(conn)
        .await?;
    let Scanned { events, last, has_more } = Scanned::of(rows, limit)?;
    Ok(FoundEvents { events, continue_after: last.filter(|_| has_more).map(|(id, _)| id) })
}

const BY_ID: &str = concat!(
    "SELECT ",
    event_columns!(),
    ", ",
    order_columns!(),
    ", TRUE AS is_wanted, 1::bigint AS number
    FROM order_events
    JOIN orders ON orders.id = order_events.order_id AND orders.business_id = $1
    WHERE order_events.business_id = $1 AND order_events.event_id = $2 AND ($3 IS NULL OR orders.mode = $3)"
);

/// An event of a business, in this mode if there is one.
pub async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    mode: Option<Mode>,
    id: EventId,
) -> Result<Option<FeedEvent>, StoreError> {
    let row: Option<FeedRow> = statement(BY_ID)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(id.to_string())
        .bind::<Nullable<Text>, _>(mode.map(Mode::as_str))
        .get_result(conn)
        .await
        .optional()?;
    row.map(FeedEvent::try_from).transpose()
}

/// The position before all events that can still appear.
pub async fn now(conn: &mut AsyncPgConnection) -> Result<FeedPosition, StoreError> {
    complete_until(conn).await.map(FeedPosition::before)
}

/// For several businesses at once, each with its own time.
const ARRIVALS: &str = "
    SELECT waiting.number - 1 AS place
    FROM unnest($1, $2) WITH ORDINALITY AS waiting (business_id, since, number)
    WHERE EXISTS (
        SELECT FROM order_events
        WHERE order_events.business_id = waiting.business_id
            AND feed_at >= waiting.since AND feed_at < $3)";

#[derive(QueryableByName)]
struct Place {
    #[diesel(sql_type = BigInt)]
    place: i64,
}

/// Which of these have a new event: a business, and the time from which on events are new. Returns indexes.
///
/// Needs a connection without a transaction, like [`complete_until`].
pub async fn arrivals(
    conn: &mut AsyncPgConnection,
    waiting: &[(BusinessId, DateTime<Utc>)],
) -> Result<Vec<usize>, StoreError> {
    let complete_until = complete_until(conn).await?;
    let places: Vec<Place> = statement(ARRIVALS)
        .bind::<Array<Text>, _>(waiting.iter().map(|(business, _)| business.to_string()).collect::<Vec<_>>())
        .bind::<Array<Timestamptz>, _>(waiting.iter().map(|(_, since)| *since).collect::<Vec<_>>())
        .bind::<Timestamptz, _>(complete_until)
        .load(conn)
        .await?;
    Ok(places.into_iter().filter_map(|place| usize::try_from(place.place).ok()).collect())
}

impl FeedRow {
    fn end(&self) -> Result<FeedPosition, StoreError> {
        let (order, sequence) = self.event.key();
        let order: OrderId = order.parse().map_err(|error| corrupt("order_events.order_id", error))?;
        Ok(FeedPosition { at: self.position, after: Some((order, sequence)) })
    }
}

impl TryFrom<FeedRow> for FeedEvent {
    type Error = StoreError;

    fn try_from(row: FeedRow) -> Result<Self, StoreError> {
        Ok(Self {
            position: row.end()?,
            mode: row.mode.parse().map_err(|error| corrupt("orders.mode", error))?,
            tracking_code: row
                .tracking_code
                .parse()
                .map_err(|error| corrupt("orders.tracking_code", error))?,
            order_reference: row.order_reference,
            personal_data_erased_at: row.personal_data_erased_at,
            event: row.event.try_into()?,
        })
    }
}
