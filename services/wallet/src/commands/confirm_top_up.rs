//! Crediting a top-up whose money is there: once, however often and by whomever that is told.

use diesel_async::AsyncPgConnection;
use domain::Paise;
use postgres::StoreError;

use super::pay_in::{PayInError, post_funds};
use super::top_up::TopUpError;
use crate::domain::WalletRecord;
use crate::domain::{NoticeOutcome, Payment, Status, TopUp, Verdict};
use crate::state::State;
use crate::store;
use crate::store::transfers::Cause;

/// A top-up after a payment of it was judged.
pub(super) struct Confirmed {
    pub(super) outcome: NoticeOutcome,
    pub(super) top_up: TopUp,
    pub(super) balance: Paise,
}

/// Judges the payment of a top-up and credits it if it fits. The wallet and the top-up are locked, in this order.
pub(super) async fn confirm_within(
    conn: &mut AsyncPgConnection,
    state: &State,
    record: &WalletRecord,
    top_up: TopUp,
    payment: &Payment,
) -> Result<Confirmed, PayInError> {
    let balance = record.wallet.balance;
    match top_up.judge(payment) {
        Verdict::SettledBefore => Ok(Confirmed { outcome: NoticeOutcome::SettledBefore, top_up, balance }),
        Verdict::Mismatch => Ok(Confirmed { outcome: NoticeOutcome::Mismatch, top_up, balance }),
        // One payment is credited once, whatever it is said to be for.
        Verdict::Credit if store::top_ups::is_paid_for_another(conn, &top_up, payment).await? => {
            Ok(Confirmed { outcome: NoticeOutcome::Mismatch, top_up, balance })
        }
        Verdict::Credit => {
            let cause = Cause::TopUp { reference: top_up.id.to_string() };
            let (transfer, entry) = post_funds(conn, state, record, top_up.amount, cause).await?;
            store::top_ups::succeed(conn, &top_up, payment, transfer, state.unit.clock.now()).await?;
            let payment_reference = Some(payment.reference.clone());
            let top_up = TopUp { status: Status::Succeeded, payment_reference, ..top_up };
            Ok(Confirmed { outcome: NoticeOutcome::Credited, top_up, balance: entry.balance_after })
        }
    }
}

/// As [`confirm_within`], in a transaction of its own.
pub(super) async fn confirm(
    state: &State,
    top_up: &TopUp,
    payment: &Payment,
) -> Result<Confirmed, TopUpError> {
    let confirmed = state
        .unit
        .transaction(async |conn| {
            let record =
                store::wallets::lock_or_create(conn, top_up.business, state.unit.clock.now()).await?;
            let locked = store::top_ups::lock(conn, top_up.business, top_up.id).await?;
            let locked = locked.ok_or_else(|| StoreError::Corrupt(format!("{} is not there", top_up.id)))?;
            Ok::<_, TopUpError>(confirm_within(conn, state, &record, locked, payment).await?)
        })
        .await?;
    log_outcome(&confirmed, payment);
    Ok(confirmed)
}

/// Says what came of a payment. One that does not fit is for a person to look at.
pub(super) fn log_outcome(confirmed: &Confirmed, payment: &Payment) {
    let (top_up, outcome) = (&confirmed.top_up, confirmed.outcome);
    metrics::counter!("wallet_payments_total", "outcome" => outcome.as_str()).increment(1);
    let (id, business_id, wanted_paise) = (top_up.id, top_up.business, top_up.amount.get());
    let (payment, amount, currency) = (&payment.reference, payment.amount.get(), &payment.currency);
    if outcome == NoticeOutcome::Mismatch {
        tracing::error!(
            top_up = %id, %business_id, wanted_paise, payment, amount, currency,
            "a payment is not the one that was asked for; nothing was credited"
        );
    } else {
        tracing::info!(top_up = %id, %business_id, payment, %outcome, "a payment of a top-up");
    }
}
