//! Refunds and lost disputes at the payment provider: takes the money back, once, as far as the wallet has it. The business
//! owes the rest.

use diesel_async::AsyncPgConnection;
use domain::{Paise, TransferId};
use metrics::counter;
use postgres::StoreError;

use super::posting::take_back;
use crate::domain::{
    CURRENCY, NoticeOutcome, PostingError, Reversal, ReversalStep, ShortfallKind, Status, TopUp,
};
use crate::state::State;
use crate::store::transfers::Cause;
use crate::store::wallets::WalletRecord;
use crate::store::{self, top_up_reversals};

/// Stores the reversal, and books it if the top-up is credited. The caller has locked the wallet, then the top-up.
pub(super) async fn reverse<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    state: &State,
    record: &mut WalletRecord,
    top_up: &TopUp,
    reversal: &Reversal,
) -> Result<NoticeOutcome, E> {
    let now = state.unit.clock.now();
    let stored = top_up_reversals::amount_of(conn, top_up.provider, &reversal.reference).await?;
    match (reversal.step, stored) {
        (ReversalStep::Announced, _) => return Ok(NoticeOutcome::Noted),
        // Notices come in any order: the money must not be taken afterwards.
        (ReversalStep::GivenBack, None) => {
            top_up_reversals::insert(conn, top_up, reversal, Paise::ZERO, now).await?;
            return Ok(NoticeOutcome::Noted);
        }
        (ReversalStep::GivenBack, Some(Paise::ZERO)) => return Ok(NoticeOutcome::Noted),
        (ReversalStep::Taken, Some(amount)) if amount == Paise::ZERO || amount == reversal.amount => {
            return Ok(NoticeOutcome::AlreadyCredited);
        }
        // The money of a booked reversal came back, or another amount was taken: a person must decide.
        (ReversalStep::GivenBack | ReversalStep::Taken, Some(_)) => return Ok(NoticeOutcome::Mismatch),
        (ReversalStep::Taken, None) => {}
    }
    // Such as a second payment of the same top-up, which was never credited.
    if top_up.payment_reference.as_ref().is_some_and(|credited| *credited != reversal.payment) {
        return Ok(NoticeOutcome::Noted);
    }
    let credited = match top_up.status {
        Status::Succeeded => Some(store::top_ups::transfer_of(conn, top_up).await?),
        Status::Pending | Status::Failed => None,
    };
    let taken = match credited {
        Some(transfer) => store::transfers::taken_back(conn, top_up.business, transfer).await?,
        None => top_up_reversals::total(conn, top_up, &reversal.payment).await?,
    };
    let fits = reversal.currency == CURRENCY
        && reversal.amount > Paise::ZERO
        && reversal.amount.get() <= top_up.amount.get() - taken.get();
    if !fits {
        return Ok(NoticeOutcome::Mismatch);
    }
    top_up_reversals::insert(conn, top_up, reversal, reversal.amount, now).await?;
    let Some(transfer) = credited else { return Ok(NoticeOutcome::Noted) };
    book::<E>(conn, state, record, transfer, (&reversal.reference, reversal.amount)).await?;
    Ok(NoticeOutcome::Reversed)
}

/// Books the reversals that were reported before their payment was credited.
pub(super) async fn book_waiting<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    state: &State,
    record: &mut WalletRecord,
    (top_up, payment): (&TopUp, &str),
    transfer: TransferId,
) -> Result<(), E> {
    for (reference, amount) in top_up_reversals::of_payment(conn, top_up, payment).await? {
        book::<E>(conn, state, record, transfer, (&reference, amount)).await?;
    }
    Ok(())
}

async fn book<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    state: &State,
    record: &mut WalletRecord,
    top_up: TransferId,
    (reference, amount): (&str, Paise),
) -> Result<(), E> {
    let threshold = record.low_balance_threshold.unwrap_or(state.default_threshold);
    let cause = Cause::TopUpReversal { reference: reference.to_owned(), reverses: top_up };
    let (wallet, about) = ((record, threshold), (reference, top_up));
    let kind = ShortfallKind::TopUpReversalShortfall;
    take_back::<E>(conn, &state.unit, wallet, amount, about, (cause, kind)).await
}

/// Logs and counts a processed reversal.
pub(super) fn report(outcome: NoticeOutcome, top_up: &TopUp, reversal: &Reversal) {
    counter!("wallet_payments_total", "outcome" => outcome.as_str()).increment(1);
    let (id, business_id, amount, reference) =
        (top_up.id, top_up.business, reversal.amount.get(), &reversal.reference);
    if outcome == NoticeOutcome::Mismatch {
        tracing::error!(
            top_up = %id, %business_id, amount, reference,
            "reversal of a payment does not fit its top-up; nothing was booked"
        );
    } else {
        tracing::info!(top_up = %id, %business_id, amount, reference, %outcome, "reversal of a payment processed");
    }
}
