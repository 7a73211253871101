//! Recovery: orders that a crash left between their intent and their end. Calling the debit off tells which end it is:
//! it was posted, so the order is placed, or it never will be, so the reference is free again.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, OrderId};
use internal_api::CallError;
use internal_api::wallet::{DebitOutcome, DebitRequest};
use postgres::StoreError;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::create_order::settle;
use crate::app::App;
use crate::domain::Claim;
use crate::store::claims;

const INTERVAL: Duration = Duration::from_secs(1);
/// Longer than any request drives its order, so that recovery does not call off what is well under way.
const LEFT_BEHIND_AFTER: TimeDelta = TimeDelta::seconds(6);
const BATCH: i64 = 100;
/// An order whose recovery is refused makes way for the others this long.
const REFUSED_PAUSE: TimeDelta = TimeDelta::minutes(1);
/// One about which the wallet does not answer, this long at first: it may be the order, or the wallet. Twice as long each
/// time, up to [`REFUSED_PAUSE`].
const UNANSWERED_PAUSE: TimeDelta = TimeDelta::seconds(5);
/// So many businesses and no other, and the wallet is taken to be away. One business may be all that it does not answer for.
const UNANSWERED_MAX: usize = 3;

#[derive(Debug, thiserror::Error)]
enum RecoverError {
    #[error(transparent)]
    Wallet(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RecoverError {
    fn is_refusal(&self) -> bool {
        match self {
            Self::Wallet(error) => error.refusal_code().is_some(),
            Self::Store(error) => !error.is_unavailable(),
        }
    }
}

/// Orders that make way for the others. Few: a round adds a batch at most, and the pauses are short.
#[derive(Default)]
struct SetAside(HashMap<OrderId, Pause>);

struct Pause {
    until: DateTime<Utc>,
    /// Of the last silence of the wallet; none yet where it was not asked.
    length: TimeDelta,
    is_refused: bool,
}

impl SetAside {
    fn refused(&mut self, order: OrderId, now: DateTime<Utc>) {
        self.0
            .insert(order, Pause { until: now + REFUSED_PAUSE, length: TimeDelta::zero(), is_refused: true });
    }

    /// The wallet did not answer by `now`, which is some seconds after it was asked.
    fn unanswered(&mut self, order: OrderId, now: DateTime<Utc>) {
        let last = self.0.get(&order).map_or(TimeDelta::zero(), |pause| pause.length);
        let length = (last * 2).clamp(UNANSWERED_PAUSE, REFUSED_PAUSE);
        self.0.insert(order, Pause { until: now + length, length, is_refused: false });
    }

    /// Its business got no answer for another order. It comes before that one next time: it may be that order alone.
    fn skipped(&mut self, order: OrderId, now: DateTime<Utc>) {
        let length = self.0.get(&order).map_or(TimeDelta::zero(), |pause| pause.length);
        self.0.insert(order, Pause { until: now + UNANSWERED_PAUSE, length, is_refused: false });
    }

    /// Forgets orders that did not come back after their pause: another instance has recovered them.
    fn forget(&mut self, now: DateTime<Utc>) {
        self.0.retain(|_, pause| pause.until + REFUSED_PAUSE > now);
    }

    fn waiting(&self, now: DateTime<Utc>) -> impl Iterator<Item = (&OrderId, &Pause)> {
        self.0.iter().filter(move |(_, pause)| pause.until > now)
    }

    fn tell(&self, now: DateTime<Utc>) {
        let refused = self.waiting(now).filter(|(_, pause)| pause.is_refused).count();
        metrics::gauge!("orders_recovery_refused").set(u32::try_from(refused).map_or(f64::MAX, f64::from));
    }
}

/// Looks for such orders until the service stops.
pub async fn recover_pending(app: std::sync::Arc<App>, stop: CancellationToken) {
    // A counter that begins with what it counts hides that from whoever watches its increase.
    for outcome in [DebitOutcome::Posted, DebitOutcome::Rejected, DebitOutcome::Voided] {
        metrics::counter!("orders_recovered_total", "outcome" => outcome.to_string()).increment(0);
    }
    let (mut set_aside, mut failing) = (SetAside::default(), false);
    set_aside.tell(app.ambient.clock.now());
    while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
        let round = recover_round(&app, &mut set_aside).await;
        set_aside.tell(app.ambient.clock.now());
        match round {
            Ok(()) => failing = false,
            Err(error) if !failing => {
                tracing::warn!(%error, "orders that wait for their payment cannot be recovered yet");
                failing = true;
            }
            Err(_) => {}
        }
    }
}

async fn recover_round(app: &App, set_aside: &mut SetAside) -> Result<(), RecoverError> {
    let clock = &app.ambient.clock;
    set_aside.forget(clock.now());
    let left_behind = look(app, clock.now(), set_aside).await?;
    let (mut has_answered, mut silent, mut silence) = (false, HashSet::<BusinessId>::new(), None);
    for claim in &left_behind {
        if silent.contains(&claim.business_id) {
            set_aside.skipped(claim.order_id, clock.now());
            continue;
        }
        match recover_traced(app, claim).await {
            Ok(()) => {
                set_aside.0.remove(&claim.order_id);
                has_answered = true;
            }
            Err(error) if error.is_refusal() => {
                tracing::error!(order_id = %claim.order_id, %error, "the recovery of an order was refused");
                set_aside.refused(claim.order_id, clock.now());
                has_answered = true;
            }
            Err(error @ RecoverError::Store(_)) => return Err(error),
            Err(error) => {
                set_aside.unanswered(claim.order_id, clock.now());
                silent.insert(claim.business_id);
                silence = Some(error);
                if !has_answered && silent.len() == UNANSWERED_MAX {
                    break;
                }
            }
        }
    }
    silence.filter(|_| !has_answered).map_or(Ok(()), Err)
}

async fn recover_traced(app: &App, claim: &Claim) -> Result<(), RecoverError> {
    let span = tracing::info_span!("recover", order_id = %claim.order_id, trace_id = tracing::field::Empty);
    if let Some(trace_id) = telemetry::trace_id(&span) {
        span.record("trace_id", trace_id);
    }
    recover(app, claim).instrument(span).await
}

/// What recovery should do next, and what shows of it.
async fn look(app: &App, now: DateTime<Utc>, set_aside: &SetAside) -> Result<Vec<Claim>, StoreError> {
    let before = now - LEFT_BEHIND_AFTER;
    let mut conn = app.database.connection().await?;
    let left_behind =
        claims::pending_since(&mut conn, before, set_aside.waiting(now).map(|(order, _)| order), BATCH)
            .await?;
    let (pending, oldest) = claims::pending_orders(&mut conn).await?;
    let age = oldest.map_or(TimeDelta::zero(), |oldest| now - oldest);
    metrics::gauge!("orders_pending_payment").set(precise(pending));
    metrics::gauge!("orders_pending_payment_oldest_age_seconds").set(age.as_seconds_f64().max(0.0));
    Ok(left_behind)
}

async fn recover(app: &App, claim: &Claim) -> Result<(), RecoverError> {
    let request = DebitRequest { business_id: claim.business_id, amount_paise: claim.delivery_fee };
    let answer = app.wallet.void(claim.order_id, claim.attempt, &request).await?;
    settle(app, claim, answer.outcome).await?;
    metrics::counter!("orders_recovered_total", "outcome" => answer.outcome.to_string()).increment(1);
    tracing::info!(order_id = %claim.order_id, outcome = %answer.outcome, "recovered an order left between two steps");
    Ok(())
}

/// A count as a gauge's value; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^53")]
fn precise(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Clock, Entropy};

    #[test]
    fn an_order_without_an_answer_waits_longer_each_time() {
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        let [order, other] = [1, 2].map(|seed| OrderId::generate(&clock, &Entropy::seeded(seed)));
        let mut set_aside = SetAside::default();
        for seconds in [5, 10, 20, 40, 60, 60] {
            set_aside.unanswered(order, clock.now());
            set_aside.skipped(other, clock.now());
            let until = |order| set_aside.0[order].until - clock.now();
            assert_eq!((until(&order), until(&other)), (TimeDelta::seconds(seconds), UNANSWERED_PAUSE));
            clock.advance(TimeDelta::seconds(seconds));
            set_aside.forget(clock.now());
            assert_eq!(set_aside.waiting(clock.now()).count(), 0);
        }
        clock.advance(REFUSED_PAUSE);
        set_aside.forget(clock.now());
        assert!(set_aside.0.is_empty());
        set_aside.unanswered(order, clock.now());
        assert_eq!(set_aside.0[&order].length, UNANSWERED_PAUSE);
    }
}
