//! Erasing what orders tell of people: by age, for a business, or one order. What is erased and the event that has it erased
//! elsewhere commit together, a portion of orders at a time, so that whatever is interrupted goes on where it was.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, DeliveryStatus, EventId, OrderId};
use events::{Body, Envelope, PersonalDataErased};
use postgres::{Database, StoreError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::app::{Ambient, App};
use crate::domain::{BusinessErasure, Erasable, Order, Placement, Scope};
use crate::store::{erasing, erasures, orders};

/// Orders in one transaction.
const PORTION_MAX: i64 = 200;
/// Between portions, so that a first erasure of millions takes no more than its share of the database.
const BREATH: Duration = Duration::from_millis(20);
/// How often a worker looks for a business's wish.
const WISHES_EVERY: Duration = Duration::from_secs(1);

/// What erases, as it is counted.
const RETENTION: &str = "retention";
const REQUEST: &str = "request";

/// What became of a portion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    pub erased: i64,
    /// Left as they are.
    pub not_completed: i64,
}

/// Why an order was not erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    #[error("there is no such order")]
    NotFound,
    #[error("the order is {0}, and not completed")]
    NotCompleted(DeliveryStatus),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for EraseError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Erases one order of a business, once it is completed. A repeated call changes nothing and answers the same.
///
/// # Errors
/// When there is no such order, or it is under way.
pub async fn erase_order(
    ambient: &Ambient,
    database: &Database,
    business: BusinessId,
    id: OrderId,
) -> Result<Order, EraseError> {
    let (order, erased) = database
        .transaction(async |conn| {
            let order = orders::find(conn, business, None, id).await?.ok_or(EraseError::NotFound)?;
            let done = erase(ambient, conn, &[(business, id)], Scope::Completed).await?;
            if done.not_completed > 0 {
                return Err(EraseError::NotCompleted(order.state.status));
            }
            let order = orders::find(conn, business, None, id).await?.ok_or(EraseError::NotFound)?;
            Ok((order, done.erased))
        })
        .await?;
    count(REQUEST, erased);
    Ok(order)
}

/// Erases the next portion of what has not changed since `before`. `None` while another instance is at it.
pub(crate) async fn erase_unchanged(
    ambient: &Ambient,
    database: &Database,
    before: DateTime<Utc>,
) -> Result<Option<Erased>, StoreError> {
    database
        .transaction(async |conn| {
            if !erasing::try_lock(conn).await? {
                return Ok(None);
            }
            let due = erasing::due(conn, before, PORTION_MAX).await?;
            erase(ambient, conn, &due, Scope::UnchangedSince(before)).await.map(Some)
        })
        .await
}

/// Erases the next portion of a business's completed orders, and tells how far it came.
pub(crate) async fn erase_next(
    ambient: &Ambient,
    conn: &mut AsyncPgConnection,
    erasure: BusinessErasure,
) -> Result<BusinessErasure, StoreError> {
    // What is placed later is not what was meant.
    let before = OrderId::first_of(erasure.requested_at + TimeDelta::milliseconds(1));
    let span = (erasure.after, before);
    let ids = erasing::of_business(conn, erasure.business_id, span, PORTION_MAX).await?;
    let named: Vec<_> = ids.iter().map(|id| (erasure.business_id, *id)).collect();
    let done = erase(ambient, conn, &named, Scope::Completed).await?;
    let is_last = i64::try_from(ids.len()).is_ok_and(|count| count < PORTION_MAX);
    Ok(BusinessErasure {
        after: ids.last().copied().unwrap_or(erasure.after),
        erased: erasure.erased + done.erased,
        not_completed: erasure.not_completed + done.not_completed,
        completed_at: is_last.then(|| ambient.clock.now()),
        ..erasure
    })
}

async fn erase(
    ambient: &Ambient,
    conn: &mut AsyncPgConnection,
    wanted: &[(BusinessId, OrderId)],
    scope: Scope,
) -> Result<Erased, StoreError> {
    let now = ambient.clock.now();
    let (taken, left) = erasing::lock_in(conn, wanted, scope).await?;
    erasing::erase(conn, &taken, now).await?;
    // Of an order that was never placed nobody was told, and a retry may yet take it over.
    let placed = taken.iter().filter(|order| order.placement == Placement::Placed);
    let told: Vec<Envelope> = placed.map(|order| announcement(ambient, order, now)).collect();
    outbox::enqueue(conn, &told, now).await?;
    let count = |orders: &[Erasable]| i64::try_from(orders.len()).unwrap_or(i64::MAX);
    Ok(Erased { erased: count(&taken), not_completed: count(&left) })
}

/// To be called after the commit.
fn count(cause: &'static str, erased: i64) {
    metrics::counter!("personal_data_erased_total", "cause" => cause)
        .increment(u64::try_from(erased).unwrap_or_default());
}

fn announcement(ambient: &Ambient, order: &Erasable, now: DateTime<Utc>) -> Envelope {
    Envelope {
        id: EventId::generate(&ambient.clock, &ambient.entropy),
        business_id: order.business_id,
        occurred_at: now,
        body: Body::PersonalDataErased(PersonalDataErased { order_id: order.id, erased_at: now }),
    }
}

/// Does what businesses wish and what is due by age, until the service stops.
pub async fn keep_erasing(app: Arc<App>, stop: CancellationToken) {
    let every = app.settings.personal_data.interval();
    let (mut look_at, mut failing) = (Instant::now(), false);
    count(RETENTION, 0);
    count(REQUEST, 0);
    metrics::gauge!("personal_data_erasure_overdue_seconds").set(0.0);
    while stop.run_until_cancelled(tokio::time::sleep(WISHES_EVERY.min(every))).await.is_some() {
        let mut round = grant_wishes(&app, &stop).await;
        if round.is_ok() && Instant::now() >= look_at {
            round = forget_meanings(&app, &stop).await;
            if round.is_ok() {
                round = erase_due(&app, &stop).await;
            }
            look_at = Instant::now() + every;
        }
        match round {
            Ok(()) => failing = false,
            Err(error) if !failing => {
                tracing::warn!(%error, "personal data cannot be erased yet");
                failing = true;
            }
            Err(_) => {}
        }
    }
}

async fn grant_wishes(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let step = app.database.transaction(async |conn| {
            let Some(erasure) = erasures::take(conn).await? else { return Ok(None) };
            let further = erase_next(&app.ambient, conn, erasure).await?;
            erasures::save(conn, &further).await?;
            Ok::<_, StoreError>(Some((further, further.erased - erasure.erased)))
        });
        let Some((erasure, newly)) = step.await? else { return Ok(()) };
        count(REQUEST, newly);
        app.notifier.notify();
        if erasure.completed_at.is_some() {
            let BusinessErasure { business_id, erased, not_completed, .. } = erasure;
            tracing::info!(%business_id, erased, not_completed, "a business's orders were erased of personal data");
        }
        tokio::time::sleep(BREATH).await;
    }
    Ok(())
}

/// While a former release runs next to this one, and once after it.
async fn forget_meanings(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let portion = async |conn: &mut AsyncPgConnection| erasing::forget_meanings(conn, PORTION_MAX).await;
        if app.database.transaction(portion).await? == 0 {
            break;
        }
        tokio::time::sleep(BREATH).await;
    }
    Ok(())
}

async fn erase_due(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    let Some(retention) = app.settings.personal_data.retention() else { return Ok(()) };
    // Before the work, too: what cannot be erased must show.
    tell_overdue(app, retention).await?;
    let mut total = 0;
    while !stop.is_cancelled() {
        let before = app.ambient.clock.now() - retention;
        let done = erase_unchanged(&app.ambient, &app.database, before).await?;
        let Some(Erased { erased: erased @ 1.., .. }) = done else { break };
        count(RETENTION, erased);
        total += erased;
        app.notifier.notify();
        tokio::time::sleep(BREATH).await;
    }
    if total > 0 {
        tracing::info!(erased = total, "old orders were erased of personal data");
    }
    tell_overdue(app, retention).await
}

async fn tell_overdue(app: &App, retention: TimeDelta) -> Result<(), StoreError> {
    let oldest = app.database.read(async |conn| erasing::oldest(conn).await).await?;
    let overdue = oldest.map(|since| app.ambient.clock.now() - retention - since);
    let overdue = overdue.and_then(|overdue| overdue.to_std().ok()).unwrap_or_default();
    metrics::gauge!("personal_data_erasure_overdue_seconds").set(overdue.as_secs_f64());
    Ok(())
}
