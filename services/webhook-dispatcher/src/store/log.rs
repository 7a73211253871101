//! The log of an endpoint, newest first, with filters. The cost of a page is bounded for any length of the log: each
//! filter either has a selective index or reads no more than a window of the log.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, WebhookDeliveryId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::deliveries::{DeliveryRow, delivery_columns};
use crate::domain::{Delivery, DeliveryFilter, DeliveryState, LogPage};

/// The deliveries read for one page. The next page continues from there.
const WINDOW: i64 = 20_000;

/// The window: `$1` to `$5` are the business, the endpoint, the bounds of the ids, and the size. Bounds are compared as
/// rows: with equality conditions, a cached plan might use the primary key for the order and scan the deliveries of all
/// businesses. The index of parked deliveries has no business column and is too small for that to matter.
macro_rules! window {
    (parked) => {
        "SELECT * FROM deliveries
         WHERE business_id = $1 AND endpoint_id = $2 AND id < $3 AND id >= $4 AND state = 'parked'
         ORDER BY id DESC LIMIT $5"
    };
    ($condition:literal) => {
        concat!(
            "SELECT * FROM deliveries
             WHERE (business_id, endpoint_id, id) < ($1, $2, $3) AND (business_id, endpoint_id, id) >= ($1, $2, $4) ",
            $condition,
            " ORDER BY business_id DESC, endpoint_id DESC, id DESC LIMIT $5"
        )
    };
}

/// `$6` to `$10` are the filters by state, kind, mode, and first and last status.
macro_rules! page {
    ($source:expr, $order:expr, $limit:literal) => {
        concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM ",
            $source,
            " WHERE ($6 IS NULL OR delivery.state = $6) AND ($7 IS NULL OR delivery.kind = $7)
                AND ($8 IS NULL OR events.mode = $8) AND ($9 IS NULL OR delivery.last_status BETWEEN $9 AND $10)
             ORDER BY ",
            $order,
            " LIMIT ",
            $limit
        )
    };
}

/// The order of the window, so that the scan stops when the page is full.
macro_rules! order {
    (parked) => {
        "delivery.id DESC"
    };
    ($condition:literal) => {
        "delivery.business_id DESC, delivery.endpoint_id DESC, delivery.id DESC"
    };
}

/// The statements for a filter by state. Their conditions match the predicates of the partial indexes.
struct Source {
    page: &'static str,
    /// Returns the size of the window and its last id.
    end: &'static str,
}

macro_rules! source {
    ($which:tt) => {
        Source {
            page: page!(
                concat!(
                    "(",
                    window!($which),
                    ") AS delivery JOIN events ON events.event_id = delivery.event_id AND events.business_id = $1"
                ),
                order!($which),
                "$11"
            ),
            end: concat!("SELECT min(id) AS id, count(*) AS count FROM (", window!($which), ") AS seen"),
        }
    };
}

const ALL: Source = source!("");
const UNSUCCESSFUL: Source = source!("AND state IN ('failed', 'discarded')");
const PARKED: Source = source!(parked);

/// An order has few events, so no window is needed.
const OF_REFERENCE: &str = page!(
    "events JOIN deliveries AS delivery ON delivery.event_id = events.event_id AND delivery.endpoint_id = $2
        AND delivery.business_id = $1 AND delivery.id < $3 AND delivery.id >= $4
        AND events.business_id = $1 AND events.order_reference = $11",
    "delivery.id DESC",
    "$5"
);

fn source(state: Option<DeliveryState>) -> Source {
    match state {
        Some(DeliveryState::Failed | DeliveryState::Discarded) => UNSUCCESSFUL,
        Some(DeliveryState::Parked) => PARKED,
        // Most deliveries have succeeded, and pending ones are among the newest.
        Some(DeliveryState::Pending | DeliveryState::Succeeded) | None => ALL,
    }
}

#[derive(QueryableByName)]
struct EndRow {
    #[diesel(sql_type = Nullable<Text>)]
    id: Option<String>,
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// A page of the log, newest first.
pub(crate) async fn list_deliveries(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &DeliveryFilter,
) -> Result<LogPage, StoreError> {
    let bounds = Bounds::of(filter);
    let source = source(filter.state);
    let state: Option<&'static str> = filter.state.map(Into::into);
    let limit = i64::try_from(filter.limit).map_err(corrupt)?;
    let one_more = limit + 1;
    let (sql, size) = match &filter.order_reference {
        Some(_) => (OF_REFERENCE, one_more),
        None => (source.page, WINDOW),
    };
    let query = statement(sql)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(filter.endpoint.to_string())
        .bind::<Text, _>(bounds.below.as_str())
        .bind::<Text, _>(bounds.from.as_str())
        .bind::<BigInt, _>(size)
        .bind::<Nullable<Text>, _>(state)
        .bind::<Nullable<Text>, _>(filter.kind.map(|kind| kind.as_str()))
        .bind::<Nullable<Text>, _>(filter.mode.map(|mode| mode.as_str()))
        .bind::<Nullable<Integer>, _>(filter.response_status.map(|wanted| wanted.first))
        .bind::<Nullable<Integer>, _>(filter.response_status.map(|wanted| wanted.last));
    let rows: Vec<DeliveryRow> = match &filter.order_reference {
        Some(reference) => query.bind::<Text, _>(reference.as_str()).load(conn).await?,
        None => query.bind::<BigInt, _>(one_more).load(conn).await?,
    };
    let mut deliveries: Vec<Delivery> =
        rows.into_iter().map(DeliveryRow::into_delivery).collect::<Result<_, _>>()?;
    if deliveries.len() > filter.limit {
        deliveries.truncate(filter.limit);
        let continue_after = deliveries.last().map(|last| last.id);
        return Ok(LogPage { deliveries, continue_after });
    }
    let narrowed = filter.state.is_some()
        || filter.kind.is_some()
        || filter.mode.is_some()
        || filter.response_status.is_some();
    if filter.order_reference.is_some() || !narrowed {
        return Ok(LogPage { deliveries, continue_after: None });
    }
    let end: EndRow = statement(source.end)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(filter.endpoint.to_string())
        .bind::<Text, _>(bounds.below.as_str())
        .bind::<Text, _>(bounds.from.as_str())
        .bind::<BigInt, _>(WINDOW)
        .get_result(conn)
        .await?;
    let beyond = end.id.filter(|_| end.count == WINDOW).map(|id| id.parse()).transpose().map_err(corrupt)?;
    Ok(LogPage { deliveries, continue_after: beyond })
}

/// The bounds of the ids, which sort by time.
struct Bounds {
    from: String,
    below: String,
}

impl Bounds {
    fn of(filter: &DeliveryFilter) -> Self {
        let first_of = |time: DateTime<Utc>| WebhookDeliveryId::first_of(time).to_string();
        let until = filter.until.map_or(WebhookDeliveryId::MAX.to_string(), first_of);
        let after = filter.after.map_or(WebhookDeliveryId::MAX.to_string(), |after| after.to_string());
        Self { from: filter.since.map(first_of).unwrap_or_default(), below: until.min(after) }
    }
}
