//! Posts money to a locked wallet.

use std::collections::BTreeMap;

use diesel_async::AsyncPgConnection;
use domain::{EventId, Paise, TransferId};
use events::{Body, Envelope};
use outbox::Unit;
use postgres::StoreError;

use crate::domain::{PostingError, WalletEntry};
use crate::store::postings::Postings;
use crate::store::transfers::{Cause, NewTransfer};
use crate::store::{self, wallets::WalletRecord};

/// Posts `amount` to the wallet.
pub(super) async fn post<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    record: &WalletRecord,
    amount: Paise,
    cause: Cause,
) -> Result<(TransferId, WalletEntry), E> {
    let mut wallet = record.wallet;
    let entry = wallet.post(amount)?;
    let id = TransferId::generate(&unit.clock, &unit.entropy);
    let transfer = NewTransfer { id, business: record.business, cause, entry };
    let wallets = BTreeMap::from([(record.business, wallet)]);
    let postings = Postings { wallets: &wallets, transfers: &[transfer], debits: &[] };
    store::postings::write(conn, postings, unit.clock.now()).await?;
    Ok((id, entry))
}

/// Posts a top-up or a credit. The first one marks the wallet as funded (SPECIFICATION §12.1) and announces it.
pub(super) async fn post_deposit<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    record: &WalletRecord,
    amount: Paise,
    cause: Cause,
) -> Result<(TransferId, WalletEntry), E> {
    let posted = post::<E>(conn, unit, record, amount, cause).await?;
    let now = unit.clock.now();
    if store::wallets::mark_funded(conn, record.business, now).await? {
        let funded = Envelope {
            id: EventId::generate(&unit.clock, &unit.entropy),
            business_id: record.business,
            occurred_at: now,
            body: Body::WalletFunded {},
        };
        unit.outbox.enqueue(conn, &[funded], now).await?;
    }
    Ok(posted)
}
