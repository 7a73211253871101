//! Settles the cash of an order that a remittance paid out, once. The wallet has booked it.

use chrono::{DateTime, Utc};
use domain::{BusinessId, CodStatus, EventId, EventKind, Mode};
use events::{CashRemitted, ProgressData};

use super::move_order::{MoveError, move_order};
use crate::order_events::Progress;
use crate::state::State;
use crate::store::orders;

/// The name of this consumer in the inbox.
const CONSUMER: &str = "order-api.remittances";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Now,
    /// By this event, or by a report of the fleet with the same amount.
    Before,
    /// A report of the fleet had settled the order with another amount: the bank transfer counts, as in the ledger.
    Corrected,
}

/// Applies `cod.settled` with the amount and the remittance: once more if the fleet reported another amount, so that the
/// business hears what it got.
///
/// # Errors
/// When the order does not exist, its cash was not handed over, or the database fails.
pub async fn settle_cash(
    state: &State,
    event: EventId,
    (business, occurred_at): (BusinessId, DateTime<Utc>),
    remitted: CashRemitted,
) -> Result<Settled, MoveError> {
    let settle = async |conn: &mut _| -> Result<Settled, MoveError> {
        if !outbox::first_time(conn, CONSUMER, event, state.unit.clock.now()).await? {
            return Ok(Settled::Before);
        }
        let order = orders::lock(conn, business, Mode::Live, remitted.order_id).await?;
        let mut order = order.ok_or(MoveError::NotFound)?;
        let was_settled = order.state.cod == CodStatus::Settled;
        if was_settled && order.cash.settled == Some(remitted.amount_paise) {
            return Ok(Settled::Before);
        }
        if was_settled {
            order.state.cod = CodStatus::HandedOver;
        }
        let data = ProgressData {
            cod_amount_paise: Some(remitted.amount_paise),
            remittance: Some(remitted.remittance.clone()),
            ..ProgressData::default()
        };
        let progress = Progress { event: EventKind::CodSettled, data, occurred_at };
        move_order(state, conn, order, progress).await?;
        Ok(if was_settled { Settled::Corrected } else { Settled::Now })
    };
    state.unit.transaction(settle).await
}
