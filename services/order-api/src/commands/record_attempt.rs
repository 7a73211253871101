//! Records the end of an attempt at a delivery, in the transaction of its event.

use diesel_async::AsyncPgConnection;
use domain::EventKind;
use postgres::StoreError;

use crate::domain::{AttemptFacts, AttemptRecord, Evidence, Order, PersonalFacts};
use crate::order_events::Progress;
use crate::state::State;
use crate::store::evidence;

/// What a report says about an attempt, next to its progress.
pub(super) struct Reported {
    pub(super) report_id: String,
    pub(super) evidence: Option<Evidence>,
    /// `None` for a failed attempt, or when no code was issued.
    pub(super) code_verified: Option<bool>,
}

/// Stores the record of the attempt that `progress` ends, and adds it to the event: its hash is how the business notices that
/// the last record was replaced. Other progress has no record. The caller holds the lock of the order's row.
pub(super) async fn record_attempt(
    state: &State,
    conn: &mut AsyncPgConnection,
    order: &Order,
    progress: &mut Progress,
    reported: Reported,
) -> Result<(), StoreError> {
    let is_end = matches!(progress.event, EventKind::OrderDelivered | EventKind::OrderFailed);
    // `move_order` refuses an illegal move. The number of its attempt can be that of the last record.
    if !is_end || order.state.apply(progress.event, state.attempts.max).is_err() {
        return Ok(());
    }
    let before = evidence::of_order(conn, order.business_id, order.id).await?;
    let (facts, personal) = read(state, order, progress, reported);
    let corrupt = |error: serde_json::Error| StoreError::Corrupt(format!("delivery_evidence: {error}"));
    let record = AttemptRecord::new(facts, &personal, before.last()).map_err(corrupt)?;
    let facts = record.facts().map_err(corrupt)?;
    let is_erased = order.personal_data_erased_at.is_some();
    let record = if is_erased { record.erased() } else { record };
    evidence::append(conn, order.business_id, order.id, facts.attempt, &record).await?;
    progress.data.evidence = Some(of_event(facts, personal, record.hash));
    Ok(())
}

/// The facts without their hashes.
fn read(
    state: &State,
    order: &Order,
    progress: &Progress,
    reported: Reported,
) -> (AttemptFacts, PersonalFacts) {
    let Evidence { captured_at, place, recipient_name, recipient_relation, photo } =
        reported.evidence.unwrap_or_default();
    let (photo_url, photo_sha256) = photo.map(|photo| (photo.url, photo.sha256)).unzip();
    let facts = AttemptFacts {
        order_id: order.id,
        // Not the number of records: release 1.0.0 wrote none.
        attempt: order.state.failed_attempts.saturating_add(1),
        event: progress.event,
        sequence: order.sequence + 1,
        report_id: reported.report_id,
        occurred_at: progress.occurred_at,
        recorded_at: state.unit.clock.now(),
        reason_code: progress.data.reason_code.clone(),
        captured_at,
        recipient_relation,
        code_verified: reported.code_verified,
        photo_sha256,
        personal_hash: String::new(),
        previous_hash: None,
    };
    let salt = format!("{:032x}", state.unit.entropy.u128());
    let reason = progress.data.reason.clone();
    (facts, PersonalFacts { salt, reason, place, recipient_name, photo_url })
}

fn of_event(facts: AttemptFacts, personal: PersonalFacts, hash: String) -> events::Evidence {
    let photo = personal.photo_url.zip(facts.photo_sha256);
    events::Evidence {
        attempt: facts.attempt,
        captured_at: facts.captured_at,
        place: personal.place,
        recipient_name: personal.recipient_name,
        recipient_relation: facts.recipient_relation,
        code_verified: facts.code_verified,
        photo: photo.map(|(url, sha256)| domain::Photo { url, sha256 }),
        hash,
    }
}
