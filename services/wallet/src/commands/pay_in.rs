//! Money that comes into a wallet, whatever for.

use std::collections::BTreeMap;

use diesel_async::AsyncPgConnection;
use domain::{EventId, Paise, TransferId};
use events::{Body, Envelope};
use postgres::StoreError;

use crate::domain::WalletRecord;
use crate::domain::{PostingError, WalletEntry};
use crate::state::State;
use crate::store;
use crate::store::postings::Postings;
use crate::store::transfers::{Cause, NewTransfer};

/// Why money could not come in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PayInError {
    #[error(transparent)]
    Posting(#[from] PostingError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Posts `amount` to a wallet under lock.
pub(super) async fn post(
    conn: &mut AsyncPgConnection,
    state: &State,
    record: &WalletRecord,
    amount: Paise,
    cause: Cause,
) -> Result<(TransferId, WalletEntry), PayInError> {
    let mut wallet = record.wallet;
    let entry = wallet.post(amount)?;
    let id = TransferId::generate(&state.unit.clock, &state.unit.entropy);
    let transfer = NewTransfer { id, business: record.business, cause, entry };
    let wallets = BTreeMap::from([(record.business, wallet)]);
    let postings = Postings { wallets: &wallets, transfers: &[transfer], debits: &[] };
    store::postings::write(conn, postings, state.unit.clock.now()).await?;
    Ok((id, entry))
}

/// Posts a top-up or a credit. The first one makes the wallet count as funded from then on (SPECIFICATION §12), which
/// portal-api hears of by event.
pub(super) async fn post_funds(
    conn: &mut AsyncPgConnection,
    state: &State,
    record: &WalletRecord,
    amount: Paise,
    cause: Cause,
) -> Result<(TransferId, WalletEntry), PayInError> {
    let posted = post(conn, state, record, amount, cause).await?;
    let now = state.unit.clock.now();
    if store::wallets::mark_funded(conn, record.business, now).await? {
        let funded = Envelope {
            id: EventId::generate(&state.unit.clock, &state.unit.entropy),
            business_id: record.business,
            occurred_at: now,
            body: Body::WalletFunded {},
        };
        outbox::enqueue(conn, &[funded], now).await?;
    }
    Ok(posted)
}
