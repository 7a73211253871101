//! Posts money to a locked wallet, or takes it back.

use std::collections::BTreeMap;

use diesel_async::AsyncPgConnection;
use domain::{EventId, Paise, TransferId};
use events::{Body, Envelope, WalletMoneyTakenBack};
use outbox::Unit;
use postgres::StoreError;

use super::low_balance_event;
use crate::domain::{LowBalance, PostingError, ShortfallKind};
use crate::store::postings::Postings;
use crate::store::transfers::{Cause, NewShortfall, NewTransfer};
use crate::store::{self, wallets::WalletRecord};

/// Adds money to the wallet, which first pays what the business owes.
pub(super) async fn add<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    record: &mut WalletRecord,
    amount: Paise,
    cause: Cause,
) -> Result<TransferId, E> {
    let id = post::<E>(conn, unit, record, amount, cause).await?;
    let payment = store::transfers::owed(conn, record.business).await?.min(record.wallet.balance);
    if payment > Paise::ZERO {
        post::<E>(conn, unit, record, Paise::new(-payment.get()), Cause::ReceivablePayment).await?;
    }
    Ok(id)
}

/// Adds a top-up or a credit. The first one marks the wallet as funded (SPECIFICATION §12.1) and announces it, and a balance that
/// it leaves low: no fee can let that fall below the threshold.
pub(super) async fn add_deposit<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    (record, threshold): (&mut WalletRecord, Paise),
    amount: Paise,
    cause: Cause,
) -> Result<TransferId, E> {
    let id = add::<E>(conn, unit, record, amount, cause).await?;
    let now = unit.clock.now();
    let (balance, business) = (record.wallet.balance, record.business);
    if store::wallets::mark_funded(conn, business, now).await? {
        let mut announced = vec![Envelope {
            id: EventId::generate(&unit.clock, &unit.entropy),
            business_id: business,
            occurred_at: now,
            body: Body::WalletFunded {},
        }];
        if balance < threshold {
            let low = LowBalance { business, balance, threshold };
            announced.push(low_balance_event(&unit.clock, &unit.entropy, &low));
        }
        unit.outbox.enqueue(conn, &announced, now).await?;
    }
    Ok(id)
}

/// Takes money from the wallet, and warns the business of a low balance like a fee does.
pub(super) async fn take<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    (record, threshold): (&mut WalletRecord, Paise),
    amount: Paise,
    cause: Cause,
) -> Result<(), E> {
    let before = record.wallet.balance;
    post::<E>(conn, unit, record, Paise::new(-amount.get()), cause).await?;
    let (balance, business) = (record.wallet.balance, record.business);
    if before >= threshold && balance < threshold {
        let low = low_balance_event(&unit.clock, &unit.entropy, &LowBalance { business, balance, threshold });
        unit.outbox.enqueue(conn, &[low], unit.clock.now()).await?;
    }
    Ok(())
}

/// Takes back money that the business should not have, and tells it.
pub(super) async fn take_back<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    (record, threshold): (&mut WalletRecord, Paise),
    amount: Paise,
    (reference, reverses): (&str, TransferId),
    (cause, kind): (Cause, ShortfallKind),
) -> Result<(), E> {
    let (wallet, about) = ((&mut *record, threshold), (reference, Some(reverses)));
    take_or_owe::<E>(conn, unit, wallet, amount, about, (cause, kind)).await?;
    let by_payment_provider = kind == ShortfallKind::TopUpReversalShortfall;
    Ok(announce(conn, unit, record, amount, (reference, None, by_payment_provider)).await?)
}

/// Takes money that the business must pay. It owes what its wallet lacks, which is returned.
pub(super) async fn take_or_owe<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    (record, threshold): (&mut WalletRecord, Paise),
    amount: Paise,
    (reference, reverses): (&str, Option<TransferId>),
    (cause, kind): (Cause, ShortfallKind),
) -> Result<Paise, E> {
    let available = amount.min(record.wallet.balance);
    let reason = cause.reason().map(str::to_owned);
    if available > Paise::ZERO {
        take::<E>(conn, unit, (&mut *record, threshold), available, cause).await?;
    }
    let lacking = Paise::new(amount.get() - available.get());
    if lacking > Paise::ZERO {
        let id = TransferId::generate(&unit.clock, &unit.entropy);
        let (business, reference) = (record.business, reference.to_owned());
        let after_entry = record.wallet.entry_count;
        let shortfall =
            NewShortfall { id, business, kind, reference, reverses, reason, amount: lacking, after_entry };
        store::transfers::insert_shortfall(conn, &shortfall, unit.clock.now()).await?;
    }
    Ok(lacking)
}

/// The business gets a mail.
pub(super) async fn announce(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    record: &WalletRecord,
    amount: Paise,
    (reference, order_reference, by_payment_provider): (&str, Option<&str>, bool),
) -> Result<(), StoreError> {
    let now = unit.clock.now();
    let taken = WalletMoneyTakenBack {
        amount_paise: amount,
        balance_paise: record.wallet.balance,
        owed_paise: store::transfers::owed(conn, record.business).await?,
        reference: reference.to_owned(),
        order_reference: order_reference.map(str::to_owned),
        by_payment_provider,
    };
    let event = Envelope {
        id: EventId::generate(&unit.clock, &unit.entropy),
        business_id: record.business,
        occurred_at: now,
        body: Body::WalletMoneyTakenBack(taken),
    };
    unit.outbox.enqueue(conn, &[event], now).await
}

/// Posts a signed amount, and updates the record.
async fn post<E: From<PostingError> + From<StoreError>>(
    conn: &mut AsyncPgConnection,
    unit: &Unit,
    record: &mut WalletRecord,
    amount: Paise,
    cause: Cause,
) -> Result<TransferId, E> {
    let entry = record.wallet.post(amount)?;
    let id = TransferId::generate(&unit.clock, &unit.entropy);
    let transfer = NewTransfer { id, business: record.business, cause, entry };
    let wallets = BTreeMap::from([(record.business, record.wallet)]);
    let postings = Postings { wallets: &wallets, transfers: &[transfer], debits: &[] };
    store::postings::write(conn, postings, unit.clock.now()).await?;
    Ok(id)
}
