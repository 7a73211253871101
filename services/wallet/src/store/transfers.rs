//! Transfers and their entries. Both are append-only.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise, TransferId};
use postgres::StoreError;

use super::columns::{expect_rows, parse};
use super::predicates::{is_operator_credit, is_refund};
use super::schema::{entries, transfers};
use crate::domain::{CashReport, CashStep, Line, TransferKind, WalletEntry, cash_lines};

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
}

impl Cause {
    pub(crate) fn kind(&self) -> TransferKind {
        match self {
            Self::DeliveryFee { .. } => TransferKind::DeliveryFee,
            Self::Refund { .. } => TransferKind::Refund,
            Self::TopUp { .. } => TransferKind::TopUp,
            Self::OperatorCredit { .. } => TransferKind::OperatorCredit,
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

/// A stored credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Credit {
    pub(crate) id: TransferId,
    pub(crate) amount: Paise,
    pub(crate) balance_after: Paise,
}

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

/// Books a step of an order's cash, which changes no wallet. An amount of zero is not booked.
pub(crate) async fn insert_cash(
    conn: &mut AsyncPgConnection,
    id: TransferId,
    report: &CashReport,
    (step, amount): (CashStep, Paise),
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let Some(lines) = cash_lines(step, amount) else { return Ok(()) };
    let rows = lines.map(|line| entry_row(id, report.business, &line, now));
    let changed = diesel::insert_into(entries::table).values(rows.as_slice()).execute(conn).await?;
    expect_rows("inserting entries", rows.len(), changed)?;
    let row = TransferRow {
        id: id.to_string(),
        kind: step.transfer_kind(),
        business_id: report.business.to_string(),
        order_id: Some(report.order.to_string()),
        reference: None,
        reverses: None,
        created_at: now,
    };
    let changed = diesel::insert_into(transfers::table).values(&row).execute(conn).await?;
    expect_rows("inserting transfers", 1, changed)
}

/// The operator's credit with this reference.
pub(crate) async fn find_credit(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    reference: &str,
) -> Result<Option<Credit>, StoreError> {
    let row =
        transfers::table
            .inner_join(entries::table.on(
                entries::transfer_id.eq(transfers::id).and(entries::business_id.eq(transfers::business_id)),
            ))
            .filter(transfers::business_id.eq(business.to_string()))
            .filter(is_operator_credit())
            .filter(transfers::reference.eq(reference))
            .filter(entries::sequence.is_not_null())
            .select((transfers::id, entries::amount_paise, entries::balance_after_paise.assume_not_null()))
            .first::<(String, i64, i64)>(conn)
            .await
            .optional()?;
    row.map(credit).transpose()
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

fn credit((id, amount, balance_after): (String, i64, i64)) -> Result<Credit, StoreError> {
    let id = parse("transfers.id", &id)?;
    Ok(Credit { id, amount: Paise::new(amount), balance_after: Paise::new(balance_after) })
}
