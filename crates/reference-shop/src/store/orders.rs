//! The shop's orders and the transitions of their sync records. Each transition is a compare-and-set.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::Mode;
use waybill_client::Claim;

use super::schema::orders;
use crate::{DeliveryDetails, LocalOrder, LocalOrderId, ShopError, SyncStatus};

#[derive(Queryable, Selectable)]
#[diesel(table_name = orders, check_for_backend(diesel::pg::Pg))]
struct OrderRow {
    id: String,
    confirmed_at: DateTime<Utc>,
    sync_status: String,
    attempts: i32,
    last_attempt_at: Option<DateTime<Utc>>,
    mode: Option<String>,
    sync_error: Option<String>,
    service_order_id: Option<String>,
    tracking_code: Option<String>,
    tracking_url: Option<String>,
    delivery_status: Option<String>,
    cod_status: Option<String>,
    last_sequence: Option<i64>,
}

/// Stores a confirmed order; `false` when its id is taken.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    id: &LocalOrderId,
    body: &str,
    now: DateTime<Utc>,
) -> Result<bool, ShopError> {
    let inserted = diesel::insert_into(orders::table)
        .values((
            orders::id.eq(id.as_str()),
            orders::body.eq(body),
            orders::confirmed_at.eq(now),
            orders::sync_status.eq(SyncStatus::NotStarted.as_str()),
            orders::attempts.eq(0),
        ))
        .on_conflict(orders::id)
        .do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    id: &LocalOrderId,
) -> Result<Option<LocalOrder>, ShopError> {
    let row = orders::table.find(id.as_str()).select(OrderRow::as_select()).first(conn).await.optional()?;
    row.map(OrderRow::into_order).transpose()
}

/// The request body, the same for every attempt.
pub(crate) async fn body(
    conn: &mut AsyncPgConnection,
    id: &LocalOrderId,
) -> Result<Option<String>, ShopError> {
    Ok(orders::table.find(id.as_str()).select(orders::body).first(conn).await.optional()?)
}

pub(crate) async fn newest(conn: &mut AsyncPgConnection, limit: u32) -> Result<Vec<LocalOrder>, ShopError> {
    let rows = orders::table
        .order((orders::confirmed_at.desc(), orders::id.desc()))
        .limit(i64::from(limit))
        .select(OrderRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(OrderRow::into_order).collect()
}

/// Finds the order of a webhook by its reference, or else by its tracking code, and locks it.
pub(crate) async fn lock_by_reference_or_tracking_code(
    conn: &mut AsyncPgConnection,
    reference: Option<&str>,
    tracking_code: Option<&str>,
) -> Result<Option<LocalOrder>, ShopError> {
    let mut row = None;
    if let Some(reference) = reference {
        row = orders::table
            .find(reference)
            .select(OrderRow::as_select())
            .for_update()
            .first(conn)
            .await
            .optional()?;
    }
    if let (None, Some(code)) = (&row, tracking_code) {
        row = orders::table
            .filter(orders::tracking_code.eq(code))
            .select(OrderRow::as_select())
            .for_update()
            .first(conn)
            .await
            .optional()?;
    }
    row.map(OrderRow::into_order).transpose()
}

/// Claims the right to send a request: from `not_started`, `failed`, or a `creating` abandoned before `stale_before`, or
/// in live mode from any state of test mode. One of several concurrent callers succeeds.
pub(crate) async fn claim(
    conn: &mut AsyncPgConnection,
    id: &LocalOrderId,
    mode: Mode,
    now: DateTime<Utc>,
    stale_before: DateTime<Utc>,
) -> Result<Option<Claim>, ShopError> {
    let free = orders::sync_status.eq_any([SyncStatus::NotStarted.as_str(), SyncStatus::Failed.as_str()]).or(
        orders::sync_status
            .eq(SyncStatus::Creating.as_str())
            .and(orders::last_attempt_at.lt(stale_before).assume_not_null()),
    );
    // Any stored detail of a delivery prevents a second one in its mode. The table's constraints ensure the same.
    let has_no_delivery = orders::service_order_id
        .is_null()
        .and(orders::tracking_code.is_null())
        .and(orders::tracking_url.is_null())
        .and(orders::delivery_status.is_null());
    let is_of_mode = orders::mode.is_null().or(orders::mode.eq(mode.as_str()).assume_not_null());
    // Nothing is equal to NULL, so a Test key replaces nothing.
    let replaced = (mode == Mode::Live).then_some(Mode::Test.as_str());
    let goes_live = orders::mode.eq(replaced).assume_not_null();
    let none = None::<&str>;
    let claimed: Option<(i32, String)> = diesel::update(orders::table.find(id.as_str()))
        .filter(free.and(has_no_delivery).and(is_of_mode).or(goes_live))
        .set((
            orders::sync_status.eq(SyncStatus::Creating.as_str()),
            orders::attempts.eq(orders::attempts + 1),
            orders::last_attempt_at.eq(now),
            orders::mode.eq(mode.as_str()),
            // Of a test delivery; empty otherwise.
            orders::service_order_id.eq(none),
            orders::tracking_code.eq(none),
            orders::tracking_url.eq(none),
            orders::delivery_status.eq(none),
            orders::cod_status.eq(none),
            orders::last_sequence.eq(None::<i64>),
        ))
        .returning((orders::attempts, orders::body))
        .get_result(conn)
        .await
        .optional()?;
    Ok(claimed.map(|(attempt, body)| Claim { attempt: i64::from(attempt), body }))
}

/// Stores the delivery; `false` when it is already stored, because the stored status may be newer.
pub(crate) async fn save_created(
    conn: &mut AsyncPgConnection,
    id: &LocalOrderId,
    mode: Mode,
    delivery: &DeliveryDetails,
) -> Result<bool, ShopError> {
    let updated = diesel::update(orders::table.find(id.as_str()))
        .filter(orders::sync_status.ne(SyncStatus::Created.as_str()))
        // The shop may have gone live since the request.
        .filter(orders::mode.eq(mode.as_str()))
        .set((
            orders::sync_status.eq(SyncStatus::Created.as_str()),
            orders::service_order_id.eq(&delivery.service_order_id),
            orders::tracking_code.eq(&delivery.tracking_code),
            orders::tracking_url.eq(&delivery.tracking_url),
            orders::delivery_status.eq(&delivery.status),
            orders::sync_error.eq(None::<&str>),
        ))
        .execute(conn)
        .await?;
    Ok(updated == 1)
}

/// Stores why this attempt failed; `false` when a later attempt or a webhook has replaced it.
pub(crate) async fn save_failed(
    conn: &mut AsyncPgConnection,
    id: &LocalOrderId,
    attempt: i64,
    message: &str,
) -> Result<bool, ShopError> {
    let updated = diesel::update(orders::table.find(id.as_str()))
        .filter(orders::sync_status.eq(SyncStatus::Creating.as_str()))
        .filter(orders::attempts.eq(i32::try_from(attempt).unwrap_or(i32::MAX)))
        .set((orders::sync_status.eq(SyncStatus::Failed.as_str()), orders::sync_error.eq(message)))
        .execute(conn)
        .await?;
    Ok(updated == 1)
}

/// Applies a webhook to a stored delivery.
pub(crate) async fn save_progress(
    conn: &mut AsyncPgConnection,
    id: &LocalOrderId,
    status: &str,
    cod_status: Option<&str>,
    sequence: i64,
) -> Result<bool, ShopError> {
    let updated = diesel::update(orders::table.find(id.as_str()))
        .filter(orders::sync_status.eq(SyncStatus::Created.as_str()))
        .set((
            orders::delivery_status.eq(status),
            orders::cod_status.eq(cod_status),
            orders::last_sequence.eq(sequence),
        ))
        .execute(conn)
        .await?;
    Ok(updated == 1)
}

impl OrderRow {
    fn into_order(self) -> Result<LocalOrder, ShopError> {
        let unknown = |text: &str| ShopError::UnknownText(text.to_owned());
        let delivery =
            match (self.service_order_id, self.tracking_code, self.tracking_url, self.delivery_status) {
                (Some(service_order_id), Some(tracking_code), Some(tracking_url), Some(status)) => {
                    Some(DeliveryDetails { service_order_id, tracking_code, tracking_url, status })
                }
                _ => None,
            };
        Ok(LocalOrder {
            id: LocalOrderId::parse(&self.id)?,
            confirmed_at: self.confirmed_at,
            sync_status: self.sync_status.parse().map_err(|_| unknown(&self.sync_status))?,
            attempts: self.attempts,
            last_attempt_at: self.last_attempt_at,
            mode: self.mode.map(|mode| mode.parse().map_err(|_| unknown(&mode))).transpose()?,
            sync_error: self.sync_error,
            delivery,
            cod_status: self.cod_status,
            last_sequence: self.last_sequence,
        })
    }
}
