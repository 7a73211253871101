//! What a payment provider posted to us: believed if it is signed, acted on once, in whatever order it comes.

use postgres::StoreError;

use super::confirm_top_up::{Confirmed, confirm_within, log_outcome};
use super::pay_in::PayInError;
use crate::domain::{NoticeOutcome, PostingError, TopUp};
use crate::payments::{Notice, NoticeError, RawNotice};
use crate::state::State;
use crate::store;

/// Why a notice was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TakeNoticeError {
    #[error(transparent)]
    Notice(#[from] NoticeError),
    #[error(transparent)]
    Posting(PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<PayInError> for TakeNoticeError {
    fn from(error: PayInError) -> Self {
        match error {
            PayInError::Posting(error) => Self::Posting(error),
            PayInError::Store(error) => Self::Store(error),
        }
    }
}

/// Takes notice; brings what came of it. Of what is no top-up of ours nothing is kept: the operator's account at the
/// provider may serve other purposes too.
///
/// # Errors
/// When the notice is not signed or cannot be read, or the database does not answer: then the provider sends it again.
pub(crate) async fn take_notice(state: &State, raw: &RawNotice) -> Result<NoticeOutcome, TakeNoticeError> {
    let notice = state.provider.read(raw)?;
    let Some(reference) = &notice.reference else { return Ok(NoticeOutcome::Ignored) };
    let provider = state.provider.name();
    let found = state
        .unit
        .database
        .read(async |conn| store::top_ups::find_by_reference(conn, provider, reference).await)
        .await?;
    let Some(top_up) = found else {
        tracing::info!(kind = notice.kind, "a payment notice is of no top-up of ours");
        return Ok(NoticeOutcome::Ignored);
    };
    match record(state, &notice, &top_up).await {
        // Another transaction credited this payment for another top-up meanwhile: now that is seen.
        Err(TakeNoticeError::Store(StoreError::Query(error)))
            if postgres::violates(&error, store::top_ups::PAYMENT_CONFLICT) =>
        {
            record(state, &notice, &top_up).await
        }
        outcome => outcome,
    }
}

/// The wallet's lock comes first, as everywhere; whoever holds the top-up's lock is the only one with this notice.
async fn record(state: &State, notice: &Notice, top_up: &TopUp) -> Result<NoticeOutcome, TakeNoticeError> {
    let paid = notice.payment.as_ref().filter(|_| notice.captured);
    let (outcome, confirmed) = state
        .unit
        .transaction(async |conn| {
            let now = state.unit.clock.now();
            let wallet = match paid {
                Some(_) => Some(store::wallets::lock_or_create(conn, top_up.business, now).await?),
                None => None,
            };
            let locked = store::top_ups::lock(conn, top_up.business, top_up.id).await?;
            let locked = locked.ok_or_else(|| StoreError::Corrupt(format!("{} is not there", top_up.id)))?;
            if let Some(before) =
                store::payment_notices::find(conn, top_up.provider, &notice.event_id).await?
            {
                return Ok::<_, TakeNoticeError>((before, None));
            }
            let confirmed = match (&wallet, paid) {
                (Some(wallet), Some(payment)) => {
                    Some(confirm_within(conn, state, wallet, locked, payment).await?)
                }
                _ => None,
            };
            let outcome =
                confirmed.as_ref().map_or(NoticeOutcome::Noted, |confirmed: &Confirmed| confirmed.outcome);
            store::payment_notices::insert(conn, notice, top_up, outcome, now).await?;
            Ok((outcome, confirmed))
        })
        .await?;
    if let (Some(confirmed), Some(payment)) = (&confirmed, paid) {
        log_outcome(confirmed, payment);
    }
    Ok(outcome)
}
