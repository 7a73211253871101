//! Processes a notice of the payment provider: checks its signature, and acts on it once.

use diesel_async::AsyncPgConnection;
use postgres::StoreError;

use super::apply_payment::{AppliedPayment, apply_payment_within, report};
use super::reverse_top_up;
use crate::domain::{Notice, NoticeOutcome, PostingError, TopUp};
use crate::payments::{NoticeError, RawNotice};
use crate::state::State;
use crate::store;
use crate::store::wallets::WalletRecord;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessNoticeError {
    #[error(transparent)]
    Notice(#[from] NoticeError),
    #[error(transparent)]
    Posting(#[from] PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Ignores notices that concern no top-up of ours: the operator may use the account for other purposes too.
///
/// # Errors
/// When the notice is unsigned or malformed. When the database fails, the provider sends the notice again.
pub(crate) async fn process_notice(
    state: &State,
    raw: &RawNotice,
) -> Result<NoticeOutcome, ProcessNoticeError> {
    let notice = state.provider.verify_notice(raw)?;
    let Some(reference) = &notice.reference else { return Ok(NoticeOutcome::Ignored) };
    let provider = state.provider.name();
    let found = state
        .unit
        .database
        .read(async |conn| store::top_ups::find_by_reference(conn, provider, reference).await)
        .await?;
    let Some(top_up) = found else {
        tracing::info!(kind = notice.kind, "payment notice ignored: it concerns no top-up");
        return Ok(NoticeOutcome::Ignored);
    };
    match record(state, &notice, &top_up).await {
        // Another transaction has just credited this payment to another top-up; the second attempt sees that.
        Err(ProcessNoticeError::Store(StoreError::Query(error)))
            if postgres::violates(&error, store::top_ups::PAYMENT_CONFLICT) =>
        {
            record(state, &notice, &top_up).await
        }
        outcome => outcome,
    }
}

/// Locks the wallet before the top-up, like all transactions. The lock of the top-up serialises repeated notices.
async fn record(state: &State, notice: &Notice, top_up: &TopUp) -> Result<NoticeOutcome, ProcessNoticeError> {
    let processed = state
        .unit
        .transaction(async |conn| {
            let now = state.unit.clock.now();
            let mut wallet = store::wallets::lock_or_create(conn, top_up.business, now).await?;
            let locked = store::top_ups::lock(conn, top_up.business, top_up.id).await?;
            let locked =
                locked.ok_or_else(|| StoreError::Corrupt(format!("{} does not exist", top_up.id)))?;
            let before = store::payment_notices::find(conn, top_up.provider, &notice.event_id).await?;
            if let Some(before) = before {
                return Ok::<_, ProcessNoticeError>(Processed::Before(before));
            }
            let processed = process(conn, state, notice, (&mut wallet, locked)).await?;
            store::payment_notices::insert(conn, notice, top_up, processed.outcome(), now).await?;
            Ok(processed)
        })
        .await?;
    match (&processed, &notice.payment, &notice.reversal) {
        (Processed::Reversal(outcome), _, Some(reversal)) => {
            reverse_top_up::report(*outcome, top_up, reversal)
        }
        (Processed::Payment(applied), Some(payment), _) => report(applied, payment),
        _ => {}
    }
    Ok(processed.outcome())
}

enum Processed {
    Before(NoticeOutcome),
    Payment(AppliedPayment),
    Reversal(NoticeOutcome),
    Other,
}

impl Processed {
    fn outcome(&self) -> NoticeOutcome {
        match self {
            Self::Before(outcome) | Self::Reversal(outcome) => *outcome,
            Self::Payment(applied) => applied.outcome,
            Self::Other => NoticeOutcome::Noted,
        }
    }
}

async fn process(
    conn: &mut AsyncPgConnection,
    state: &State,
    notice: &Notice,
    (wallet, top_up): (&mut WalletRecord, TopUp),
) -> Result<Processed, ProcessNoticeError> {
    if let Some(reversal) = &notice.reversal {
        let reversed = reverse_top_up::reverse::<ProcessNoticeError>(conn, state, wallet, &top_up, reversal);
        return Ok(Processed::Reversal(reversed.await?));
    }
    match notice.payment.as_ref().filter(|_| notice.captured) {
        Some(payment) => {
            let applied = apply_payment_within::<ProcessNoticeError>(conn, state, wallet, top_up, payment);
            Ok(Processed::Payment(applied.await?))
        }
        None => Ok(Processed::Other),
    }
}
