//! Applies a payment to its top-up. A top-up is credited once, however often and by whatever path its payment is reported.

use diesel_async::AsyncPgConnection;
use domain::Paise;
use metrics::counter;
use postgres::StoreError;
use strum::VariantArray;

use super::posting::add_deposit;
use super::reverse_top_up::book_waiting;
use crate::domain::{NoticeOutcome, Payment, PaymentDecision, PostingError, Status, TopUp};
use crate::state::State;
use crate::store;
use crate::store::transfers::Cause;
use crate::store::wallets::WalletRecord;

/// A top-up after a payment was applied to it.
pub(super) struct AppliedPayment {
    pub(super) outcome: NoticeOutcome,
    pub(super) top_up: TopUp,
    pub(super) balance: Paise,
}

pub(super) fn publish_counters() {
    for outcome in NoticeOutcome::VARIANTS {
        counter!("wallet_payments_total", "outcome" => outcome.as_str()).increment(0);
    }
}

/// Credits the top-up if the payment fits. The caller has locked the wallet, then the top-up.
pub(super) async fn apply_payment_within<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    state: &State,
    record: &mut WalletRecord,
    top_up: TopUp,
    payment: &Payment,
) -> Result<AppliedPayment, E> {
    let balance = record.wallet.balance;
    let unchanged = |outcome, top_up| Ok(AppliedPayment { outcome, top_up, balance });
    match top_up.decide(payment) {
        PaymentDecision::AlreadyCredited => unchanged(NoticeOutcome::AlreadyCredited, top_up),
        PaymentDecision::Mismatch => unchanged(NoticeOutcome::Mismatch, top_up),
        // A payment is credited once, even if it is reported for several top-ups.
        PaymentDecision::Credit if store::top_ups::is_credited_to_another(conn, &top_up, payment).await? => {
            unchanged(NoticeOutcome::Mismatch, top_up)
        }
        PaymentDecision::Credit => {
            let cause = Cause::TopUp { reference: top_up.id.to_string() };
            let threshold = record.low_balance_threshold.unwrap_or(state.default_threshold);
            let transfer =
                add_deposit::<E>(conn, &state.unit, (&mut *record, threshold), top_up.amount, cause).await?;
            store::top_ups::succeed(conn, &top_up, payment, transfer, state.unit.clock.now()).await?;
            book_waiting::<E>(conn, state, record, (&top_up, &payment.reference), transfer).await?;
            let payment_reference = Some(payment.reference.clone());
            let top_up = TopUp { status: Status::Succeeded, payment_reference, ..top_up };
            Ok(AppliedPayment { outcome: NoticeOutcome::Credited, top_up, balance: record.wallet.balance })
        }
    }
}

/// As [`apply_payment_within`], in its own transaction.
pub(super) async fn apply_payment<E: From<PostingError> + From<StoreError> + Send>(
    state: &State,
    top_up: &TopUp,
    payment: &Payment,
) -> Result<AppliedPayment, E> {
    let unit = &state.unit;
    let applied = unit
        .transaction(async |conn| {
            let mut record = store::wallets::lock_or_create(conn, top_up.business, unit.clock.now()).await?;
            let locked = store::top_ups::lock(conn, top_up.business, top_up.id).await?;
            let locked =
                locked.ok_or_else(|| StoreError::Corrupt(format!("{} does not exist", top_up.id)))?;
            apply_payment_within::<E>(conn, state, &mut record, locked, payment).await
        })
        .await?;
    report(&applied, payment);
    Ok(applied)
}

/// Logs and counts an applied payment.
pub(super) fn report(applied: &AppliedPayment, payment: &Payment) {
    let (top_up, outcome) = (&applied.top_up, applied.outcome);
    counter!("wallet_payments_total", "outcome" => outcome.as_str()).increment(1);
    let (id, business_id, expected_paise) = (top_up.id, top_up.business, top_up.amount.get());
    let (payment, amount, currency) = (&payment.reference, payment.amount.get(), &payment.currency);
    if outcome == NoticeOutcome::Mismatch {
        tracing::error!(
            top_up = %id, %business_id, expected_paise, payment, amount, currency,
            "payment does not match its top-up; nothing was credited"
        );
    } else {
        tracing::info!(top_up = %id, %business_id, payment, %outcome, "payment of a top-up processed");
    }
}
