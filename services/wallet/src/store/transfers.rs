//! Transfers and their entries. Both are append-only.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise, TransferId};
use postgres::{StoreError, statement};

use super::columns::{expect_rows, parse};
use super::predicates::{
    is_debit_with_reference, is_deposit, is_operator_credit, is_operator_debit, is_refund,
};
use super::schema::{entries, transfers};
use crate::domain::{CashStep, Line, ShortfallKind, TransferKind, WalletEntry, cash_lines, shortfall_lines};

/// The reason of a transfer, with its references.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    DeliveryFee {
        order: OrderId,
    },
    Refund {
        order: OrderId,
        reverses: TransferId,
    },
    /// `reference` is the id of the top-up.
    TopUp {
        reference: String,
    },
    OperatorCredit {
        reference: String,
    },
    OperatorDebit {
        reference: String,
        reverses: Option<TransferId>,
        reason: Option<String>,
    },
    /// `reference` is the provider's id of the refund or dispute; `reverses` is the transfer of the top-up.
    TopUpReversal {
        reference: String,
        reverses: TransferId,
    },
    ReceivablePayment,
}

impl Cause {
    pub(crate) fn kind(&self) -> TransferKind {
        match self {
            Self::DeliveryFee { .. } => TransferKind::DeliveryFee,
            Self::Refund { .. } => TransferKind::Refund,
            Self::TopUp { .. } => TransferKind::TopUp,
            Self::OperatorCredit { .. } => TransferKind::OperatorCredit,
            Self::OperatorDebit { .. } => TransferKind::OperatorDebit,
            Self::TopUpReversal { .. } => TransferKind::TopUpReversal,
            Self::ReceivablePayment => TransferKind::ReceivablePayment,
        }
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::OperatorDebit { reason, .. } => reason.as_deref(),
            _ => None,
        }
    }
}

/// A transfer to insert. The operator's line follows from the kind.
#[derive(Clone, Debug)]
pub(crate) struct NewTransfer {
    pub(crate) id: TransferId,
    pub(crate) business: BusinessId,
    pub(crate) cause: Cause,
    pub(crate) entry: WalletEntry,
}

/// A shortfall to insert: what the wallet lacked for a debit of the same reference.
#[derive(Clone, Debug)]
pub(crate) struct NewShortfall {
    pub(crate) id: TransferId,
    pub(crate) business: BusinessId,
    pub(crate) kind: ShortfallKind,
    pub(crate) reference: String,
    /// None of the fee of an attempt, which takes back nothing.
    pub(crate) reverses: Option<TransferId>,
    pub(crate) reason: Option<String>,
    pub(crate) amount: Paise,
    /// The wallet's newest entry.
    pub(crate) after_entry: i64,
}

/// A stored deposit or debit. The amount is positive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Booked {
    pub(crate) id: TransferId,
    pub(crate) amount: Paise,
    /// The deposit that a debit takes back.
    pub(crate) reverses: Option<TransferId>,
    pub(crate) created_at: DateTime<Utc>,
}

/// Id, reversed transfer and time.
type BookedRow = (String, Option<String>, DateTime<Utc>);

#[derive(Insertable)]
#[diesel(table_name = transfers)]
struct TransferRow {
    id: String,
    kind: &'static str,
    business_id: String,
    order_id: Option<String>,
    reference: Option<String>,
    reverses: Option<String>,
    created_at: DateTime<Utc>,
    reason: Option<String>,
    after_entry: Option<i64>,
}

#[derive(Insertable)]
#[diesel(table_name = entries)]
struct EntryRow {
    transfer_id: String,
    account: &'static str,
    business_id: String,
    amount_paise: i64,
    sequence: Option<i64>,
    balance_after_paise: Option<i64>,
    created_at: DateTime<Utc>,
}

fn entry_row(transfer: TransferId, business: BusinessId, line: &Line, now: DateTime<Utc>) -> EntryRow {
    EntryRow {
        transfer_id: transfer.to_string(),
        account: line.account.as_str(),
        business_id: business.to_string(),
        amount_paise: line.amount.get(),
        sequence: line.sequence,
        balance_after_paise: line.balance_after.map(Paise::get),
        created_at: now,
    }
}

/// A transfer of an order's cash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CashMove {
    pub(crate) id: TransferId,
    pub(crate) order: OrderId,
    pub(crate) amount: Paise,
}

/// Books a step of orders' cash, which changes no wallet. An amount of zero is not booked.
pub(crate) async fn insert_cash(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    step: CashStep,
    moves: &[CashMove],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (mut entries, mut transfers) = (Vec::with_capacity(2 * moves.len()), Vec::with_capacity(moves.len()));
    for CashMove { id, order, amount } in moves {
        let Some(lines) = cash_lines(step, *amount) else { continue };
        entries.extend(lines.iter().map(|line| entry_row(*id, business, line, now)));
        transfers.push(TransferRow {
            id: id.to_string(),
            kind: step.transfer_kind(),
            business_id: business.to_string(),
            order_id: Some(order.to_string()),
            reference: None,
            reverses: None,
            created_at: now,
            reason: None,
            after_entry: None,
        });
    }
    insert(conn, &entries, &transfers).await
}

/// Books a shortfall, which changes no wallet.
pub(crate) async fn insert_shortfall(
    conn: &mut AsyncPgConnection,
    shortfall: &NewShortfall,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let row = TransferRow {
        id: shortfall.id.to_string(),
        kind: shortfall.kind.as_str(),
        business_id: shortfall.business.to_string(),
        order_id: None,
        reference: Some(shortfall.reference.clone()),
        reverses: shortfall.reverses.map(|deposit| deposit.to_string()),
        created_at: now,
        reason: shortfall.reason.clone(),
        after_entry: Some(shortfall.after_entry),
    };
    let lines = shortfall_lines(shortfall.kind, shortfall.amount);
    let entries = lines.map(|line| entry_row(shortfall.id, shortfall.business, &line, now));
    insert(conn, &entries, &[row]).await
}

async fn insert(
    conn: &mut AsyncPgConnection,
    new_entries: &[EntryRow],
    new_transfers: &[TransferRow],
) -> Result<(), StoreError> {
    let changed = diesel::insert_into(entries::table).values(new_entries).execute(conn).await?;
    expect_rows("inserting entries", new_entries.len(), changed)?;
    let changed = diesel::insert_into(transfers::table).values(new_transfers).execute(conn).await?;
    expect_rows("inserting transfers", new_transfers.len(), changed)
}

/// The operator's credit with this reference.
pub(crate) async fn find_credit(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    reference: &str,
) -> Result<Option<Booked>, StoreError> {
    let credits = transfers::table
        .filter(transfers::business_id.eq(business.to_string()))
        .filter(is_operator_credit())
        .filter(transfers::reference.eq(reference))
        .select((transfers::id, transfers::reverses, transfers::created_at));
    let rows = credits.load(conn).await?;
    booked(conn, business, rows).await
}

/// The operator's debit with this reference, including its shortfall.
pub(crate) async fn find_debit(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    reference: &str,
) -> Result<Option<Booked>, StoreError> {
    let debits = transfers::table
        .filter(transfers::business_id.eq(business.to_string()))
        .filter(is_debit_with_reference())
        .filter(is_operator_debit())
        .filter(transfers::reference.eq(reference))
        .order(transfers::id)
        .select((transfers::id, transfers::reverses, transfers::created_at));
    let rows = debits.load(conn).await?;
    booked(conn, business, rows).await
}

/// The refund of this order's fee.
pub(crate) async fn find_refund(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<Option<TransferId>, StoreError> {
    let id = transfers::table
        .filter(transfers::business_id.eq(business.to_string()))
        .filter(is_refund())
        .filter(transfers::order_id.eq(order.to_string()))
        .select(transfers::id)
        .first::<String>(conn)
        .await
        .optional()?;
    id.map(|id| parse("transfers.id", &id)).transpose()
}

/// A deposit or refund that a debit may take back.
pub(crate) async fn find_deposit(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: TransferId,
) -> Result<Option<Booked>, StoreError> {
    let deposits = transfers::table
        .find((id.to_string(), business.to_string()))
        .filter(is_deposit())
        .select((transfers::id, transfers::reverses, transfers::created_at));
    let rows = deposits.load(conn).await?;
    booked(conn, business, rows).await
}

/// What debits took back of a deposit so far, with their shortfalls.
pub(crate) async fn taken_back(
    mut conn: &AsyncPgConnection,
    business: BusinessId,
    deposit: TransferId,
) -> Result<Paise, StoreError> {
    let sum = statement("SELECT taken_back($1, $2) AS paise")
        .bind::<Text, _>(deposit.to_string())
        .bind::<Text, _>(business.to_string());
    let sum: Sum = sum.get_result(&mut conn).await?;
    Ok(Paise::new(sum.paise))
}

/// What the business owes.
pub(crate) async fn owed(mut conn: &AsyncPgConnection, business: BusinessId) -> Result<Paise, StoreError> {
    let sum = statement(
        "SELECT coalesce(-sum(amount_paise), 0)::bigint AS paise FROM entries
        WHERE business_id = $1 AND account = 'business_receivable'",
    );
    let sum: Sum = sum.bind::<Text, _>(business.to_string()).get_result(&mut conn).await?;
    Ok(Paise::new(sum.paise))
}

#[derive(QueryableByName)]
struct Sum {
    #[diesel(sql_type = BigInt)]
    paise: i64,
}

/// Adds up the transfers of one reference: the wallet's part and the shortfall.
async fn booked(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    rows: Vec<BookedRow>,
) -> Result<Option<Booked>, StoreError> {
    let Some((id, reverses, created_at)) = rows.as_slice().first().cloned() else { return Ok(None) };
    let ids: Vec<_> = rows.into_iter().map(|(id, ..)| id).collect();
    let amounts: Vec<i64> = entries::table
        .filter(entries::transfer_id.eq_any(ids))
        .filter(entries::business_id.eq(business.to_string()))
        .filter(entries::amount_paise.gt(0))
        .select(entries::amount_paise)
        .load(conn)
        .await?;
    Ok(Some(Booked {
        id: parse("transfers.id", &id)?,
        amount: Paise::new(amounts.into_iter().sum()),
        reverses: reverses.map(|id| parse("transfers.reverses", &id)).transpose()?,
        created_at,
    }))
}
