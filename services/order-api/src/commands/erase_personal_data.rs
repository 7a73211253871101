//! Erases the personal data of orders. The erasure and the event that makes other services erase it too commit
//! together, for a batch of orders at a time.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, DeliveryStatus, EventId, OrderId};
use events::{Body, Envelope, PersonalDataErased};
use outbox::Unit;
use postgres::StoreError;

use crate::domain::{BusinessErasure, Erasable, Order, Placement, Scope};
use crate::store::{orders, personal_data};

const BATCH: i64 = 200;
/// The orders of a batch that are changed at once. Nothing else happens on this thread meanwhile, and they may be large.
const PORTION: usize = 12;

/// The cause of an erasure, a label of its metric.
#[derive(Clone, Copy, Debug, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Cause {
    Retention,
    Request,
}

/// The result of one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    pub erased: i64,
    /// Orders that the scope does not include.
    pub not_completed: i64,
}

/// Why an order was not erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    #[error("the order does not exist")]
    NotFound,
    #[error("the order is {0}, and not completed")]
    NotCompleted(DeliveryStatus),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Erases a completed order and returns it. A repeated call changes nothing.
///
/// # Errors
/// When the order does not exist or is not completed.
pub async fn erase_order(unit: &Unit, business: BusinessId, id: OrderId) -> Result<Order, EraseError> {
    let erase_one = async |conn: &mut AsyncPgConnection| -> Result<_, EraseError> {
        let order = orders::find(conn, business, None, id).await?.ok_or(EraseError::NotFound)?;
        let batch = erase(unit, conn, &[(business, id)], Scope::Completed).await?;
        if batch.not_completed > 0 {
            return Err(EraseError::NotCompleted(order.state.status));
        }
        let order = orders::find(conn, business, None, id).await?.ok_or(EraseError::NotFound)?;
        Ok((order, batch.erased))
    };
    let (order, erased) = unit.transaction(erase_one).await?;
    count(Cause::Request, erased);
    Ok(order)
}

/// Erases the next batch of orders that have not changed since `before`. `None`: another instance is erasing.
pub async fn erase_unchanged(unit: &Unit, before: DateTime<Utc>) -> Result<Option<Erased>, StoreError> {
    let erase_batch = async |conn: &mut AsyncPgConnection| -> Result<_, StoreError> {
        if !personal_data::try_lock(conn).await? {
            return Ok(None);
        }
        let due = personal_data::due(conn, before, BATCH).await?;
        erase(unit, conn, &due, Scope::UnchangedSince(before)).await.map(Some)
    };
    unit.transaction(erase_batch).await
}

/// Erases the next batch of a business's orders, and returns the progress.
pub async fn erase_next(
    unit: &Unit,
    conn: &mut AsyncPgConnection,
    erasure: BusinessErasure,
) -> Result<BusinessErasure, StoreError> {
    // Orders after the request are not part of it.
    let before = OrderId::first_of(erasure.requested_at + TimeDelta::milliseconds(1));
    let span = (erasure.after, before);
    let ids = personal_data::of_business(conn, erasure.business_id, span, BATCH).await?;
    let keys: Vec<_> = ids.iter().map(|id| (erasure.business_id, *id)).collect();
    let batch = erase(unit, conn, &keys, erasure.scope()).await?;
    let is_last = i64::try_from(ids.len()).is_ok_and(|count| count < BATCH);
    Ok(BusinessErasure {
        after: ids.last().copied().unwrap_or(erasure.after),
        erased: erasure.erased + batch.erased,
        not_completed: erasure.not_completed + batch.not_completed,
        completed_at: is_last.then(|| unit.clock.now()),
        ..erasure
    })
}

async fn erase(
    unit: &Unit,
    conn: &mut AsyncPgConnection,
    keys: &[(BusinessId, OrderId)],
    scope: Scope,
) -> Result<Erased, StoreError> {
    let now = unit.clock.now();
    let (mut keys, mut announcements) = (keys.to_vec(), Vec::new());
    let mut erased = Erased { erased: 0, not_completed: 0 };
    // Sorted, so that two erasures cannot deadlock.
    keys.sort_unstable_by_key(|(_, order)| *order);
    for portion in keys.chunks(PORTION) {
        let (included, excluded) = personal_data::lock_in(conn, portion, scope).await?;
        personal_data::erase(conn, &included, now).await?;
        // An order that was never placed was never announced, and a later request may take over its row.
        let placed = included.iter().filter(|order| order.placement == Placement::Placed);
        announcements.extend(placed.map(|order| announcement(unit, order, now)));
        let count = |orders: &[Erasable]| i64::try_from(orders.len()).unwrap_or(i64::MAX);
        erased.erased += count(&included);
        erased.not_completed += count(&excluded);
    }
    unit.outbox.enqueue(conn, &announcements, now).await?;
    Ok(erased)
}

fn announcement(unit: &Unit, order: &Erasable, now: DateTime<Utc>) -> Envelope {
    Envelope {
        id: EventId::generate(&unit.clock, &unit.entropy),
        business_id: order.business_id,
        occurred_at: now,
        body: Body::PersonalDataErased(PersonalDataErased { order_id: order.id, erased_at: now }),
    }
}

/// Call this after the commit.
pub(super) fn count(cause: Cause, erased: i64) {
    metrics::counter!("personal_data_erased_total", "cause" => <&str>::from(cause))
        .increment(u64::try_from(erased).unwrap_or_default());
}

/// Publishes 0 up front: alerts ignore absent series.
pub fn publish_zeros() {
    count(Cause::Retention, 0);
    count(Cause::Request, 0);
}
