//! The statement: the entries of a wallet and the debts of its business, newest first, each with its transfer.

use std::collections::HashMap;
use std::ops::Range;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise, TransferId, attempt_fee_references, order_of_attempt_fee};
use postgres::{StoreError, literal, statement};
use strum::VariantArray;

use super::columns::parse;
use super::predicates::{is_debit_with_reference, is_not_fee, is_operator_debit, is_posted, is_refund};
use super::schema::{debits, entries, transfers};
use super::statement_totals::sequences;
use crate::domain::{Account, LineKind, ShortfallKind, TransferKind};

#[derive(Clone, Debug)]
pub(crate) struct StatementLine {
    pub(crate) position: Position,
    pub(crate) transfer: TransferId,
    pub(crate) kind: LineKind,
    /// The change of the balance.
    pub(crate) amount: Paise,
    /// The change of the debt.
    pub(crate) owed: Paise,
    pub(crate) balance_after: Paise,
    /// Of a fee of another attempt, the one that its reference names.
    pub(crate) order: Option<OrderId>,
    pub(crate) reference: Option<String>,
    pub(crate) reverses: Option<TransferId>,
    pub(crate) reason: Option<String>,
    /// What of a deposit or refund was not taken back. See [`complete`].
    pub(crate) left: Option<Paise>,
    /// What a debit takes back.
    pub(crate) takes_back: Option<Deposit>,
    pub(crate) created_at: DateTime<Utc>,
}

/// The position of a line: an entry of the wallet, or a debt after an entry. A later line has a greater position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) entry: i64,
    pub(crate) debt: Option<TransferId>,
}

/// Names a line. A debt has no number in the wallet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cursor {
    Entry(i64),
    Debt(TransferId),
}

/// The deposit or refund that a debit takes back.
#[derive(Clone, Debug)]
pub(crate) struct Deposit {
    pub(crate) kind: TransferKind,
    pub(crate) order: Option<OrderId>,
    pub(crate) reference: Option<String>,
    pub(crate) created_at: DateTime<Utc>,
}

/// Entries of a kind with so few transfers are found by the index `transfers_beside_fees`.
const FEW: i64 = 5_000;

type Row = (
    String,
    String,
    i64,
    i64,
    i64,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    DateTime<Utc>,
);

/// Keeps the lines of the filter's period.
macro_rules! in_period {
    ($query:expr, $created_at:expr, $filter:expr) => {{
        let mut query = $query;
        if let Some(since) = $filter.since {
            query = query.filter($created_at.ge(since));
        }
        if let Some(until) = $filter.until {
            query = query.filter($created_at.lt(until));
        }
        query
    }};
}

/// The columns of a [`Row`].
macro_rules! row_columns {
    () => {
        (
            transfers::id,
            transfers::kind,
            entries::amount_paise,
            entries::sequence.assume_not_null(),
            entries::balance_after_paise.assume_not_null(),
            transfers::order_id,
            transfers::reference,
            transfers::reverses,
            transfers::reason,
            entries::created_at,
        )
    };
}

type DebtRow = (String, String, i64, i64, Option<String>, Option<String>, Option<String>, DateTime<Utc>);

/// The debts of a business, each as a [`DebtRow`]: no entries of the wallet, but transfers beside it.
macro_rules! debts {
    ($business:expr) => {
        transfers::table
            .inner_join(
                entries::table.on(entries::transfer_id
                    .eq(transfers::id)
                    .and(entries::business_id.eq(transfers::business_id))
                    .and(entries::account.eq(Account::BusinessReceivable.as_str()))),
            )
            .filter(transfers::business_id.eq($business.to_string()))
            .select((
                transfers::id,
                transfers::kind,
                entries::amount_paise,
                transfers::after_entry.assume_not_null(),
                transfers::reference,
                transfers::reverses,
                transfers::reason,
                transfers::created_at,
            ))
    };
}

/// The default matches all lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineFilter {
    pub(crate) kind: Option<LineKind>,
    /// Inclusive.
    pub(crate) since: Option<DateTime<Utc>>,
    /// Exclusive.
    pub(crate) until: Option<DateTime<Utc>>,
}

impl LineFilter {
    pub(crate) fn matches(&self, line: &StatementLine) -> bool {
        self.kind.is_none_or(|kind| line.kind == kind)
            && self.since.is_none_or(|since| line.created_at >= since)
            && self.until.is_none_or(|until| line.created_at < until)
    }
}

/// Up to `limit` matching lines before a position, newest first.
pub(crate) async fn page(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &LineFilter,
    before: Option<Position>,
    limit: i64,
) -> Result<Vec<StatementLine>, StoreError> {
    let mut lines = match filter.kind {
        Some(LineKind::Owed(_)) => Vec::new(),
        Some(LineKind::Moved(_)) | None => entries_of(conn, business, filter, before, limit).await?,
    };
    if !matches!(filter.kind, Some(LineKind::Moved(_))) {
        lines.extend(debts_of(conn, business, filter, before, limit).await?);
    }
    lines.sort_unstable_by_key(|line| std::cmp::Reverse(line.position));
    lines.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(lines)
}

async fn entries_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &LineFilter,
    before: Option<Position>,
    limit: i64,
) -> Result<Vec<StatementLine>, StoreError> {
    let end = match before {
        None => i64::MAX,
        Some(Position { entry, debt: None }) => entry,
        // The debt follows this entry.
        Some(Position { entry, debt: Some(_) }) => entry.saturating_add(1),
    };
    let few = match filter.kind {
        Some(LineKind::Moved(kind)) if kind != TransferKind::DeliveryFee => {
            has_few(conn, business, kind).await?
        }
        _ => false,
    };
    let mut query =
        entries::table
            .inner_join(transfers::table.on(
                transfers::id.eq(entries::transfer_id).and(transfers::business_id.eq(entries::business_id)),
            ))
            .filter(entries::business_id.eq(business.to_string()))
            .filter(transfers::business_id.eq(business.to_string()))
            .filter(entries::sequence.lt(end))
            .order(entries::sequence.desc())
            .limit(limit)
            .select(row_columns!())
            .into_boxed();
    if let Some(LineKind::Moved(kind)) = filter.kind {
        query = query.filter(transfers::kind.eq(kind.as_str()));
        if kind != TransferKind::DeliveryFee {
            query = query.filter(is_not_fee());
        }
        if few {
            // No index has this order, so the rows of the index by kind are sorted, instead of all being read in their order.
            query = query
                .filter(entries::account.eq(Account::BusinessWallet.as_str()))
                .order(literal::<BigInt>("entries.sequence + 0").desc());
        }
    }
    if !few && filter.since.or(filter.until).is_some() {
        let read = sequences(conn, business, (filter.since, filter.until)).await?;
        let Some(Range { start, end }) = read else { return Ok(Vec::new()) };
        query = query.filter(entries::sequence.ge(start)).filter(entries::sequence.lt(end));
    }
    query = in_period!(query, entries::created_at, filter);
    let rows: Vec<Row> = query.load(conn).await?;
    rows.into_iter().map(line).collect()
}

/// Whether few transfers are of a kind other than the fee.
async fn has_few(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    kind: TransferKind,
) -> Result<bool, StoreError> {
    let one_more: Option<String> = transfers::table
        .filter(transfers::business_id.eq(business.to_string()))
        .filter(is_not_fee())
        .filter(transfers::kind.eq(kind.as_str()))
        .select(transfers::kind)
        .offset(FEW)
        .first(conn)
        .await
        .optional()?;
    Ok(one_more.is_none())
}

/// Few, compared with entries.
async fn debts_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &LineFilter,
    before: Option<Position>,
    limit: i64,
) -> Result<Vec<StatementLine>, StoreError> {
    let kinds = ShortfallKind::VARIANTS.iter().copied();
    let wanted = kinds.filter(|kind| filter.kind.is_none_or(|wanted| wanted == LineKind::Owed(*kind)));
    let end = before.map_or(i64::MAX, |position| position.entry);
    let end_debt = before.and_then(|position| position.debt).map(|debt| debt.to_string()).unwrap_or_default();
    let after_entry = transfers::after_entry.assume_not_null();
    let mut query = debts!(business)
        .filter(is_not_fee())
        .filter(transfers::kind.eq_any(wanted.map(ShortfallKind::as_str)))
        .filter(after_entry.lt(end).or(after_entry.eq(end).and(transfers::id.lt(end_debt))))
        .order((transfers::after_entry.desc(), transfers::id.desc()))
        .limit(limit)
        .into_boxed();
    query = in_period!(query, transfers::created_at, filter);
    let rows: Vec<DebtRow> = query.load(conn).await?;
    rows.into_iter().map(debt).collect()
}

/// The fee, the fees of further attempts with what is owed of them, and the refund of one order, oldest first. Unique indexes
/// limit each to one, and find them.
pub(crate) async fn of_order(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<Vec<StatementLine>, StoreError> {
    let fee: Option<Option<String>> = debits::table
        .filter(debits::order_id.eq(order.to_string()))
        .filter(debits::business_id.eq(business.to_string()))
        .filter(is_posted())
        .select(debits::transfer_id)
        .first(conn)
        .await
        .optional()?;
    let refund: Option<String> = transfers::table
        .filter(transfers::order_id.eq(order.to_string()))
        .filter(transfers::business_id.eq(business.to_string()))
        .filter(is_refund())
        .select(transfers::id)
        .first(conn)
        .await
        .optional()?;
    let of_attempts: Vec<String> = transfers::table
        .filter(transfers::business_id.eq(business.to_string()))
        .filter(transfers::reference.eq_any(attempt_fee_references(order)))
        .filter(is_debit_with_reference())
        .filter(is_operator_debit())
        .select(transfers::id)
        .load(conn)
        .await?;
    let ids: Vec<String> = fee.flatten().into_iter().chain(of_attempts).chain(refund).collect();
    let rows: Vec<Row> =
        entries::table
            .inner_join(transfers::table.on(
                transfers::id.eq(entries::transfer_id).and(transfers::business_id.eq(entries::business_id)),
            ))
            .filter(entries::transfer_id.eq_any(ids.clone()))
            .filter(entries::business_id.eq(business.to_string()))
            .filter(entries::sequence.is_not_null())
            .select(row_columns!())
            .load(conn)
            .await?;
    let debts: Vec<DebtRow> = debts!(business).filter(transfers::id.eq_any(ids)).load(conn).await?;
    let lines = rows.into_iter().map(line).chain(debts.into_iter().map(debt));
    let mut lines = lines.collect::<Result<Vec<_>, StoreError>>()?;
    lines.sort_unstable_by_key(|line| line.position);
    Ok(lines)
}

/// The position of a line. `None` if the wallet has no such line.
pub(crate) async fn position_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    cursor: Cursor,
) -> Result<Option<Position>, StoreError> {
    match cursor {
        Cursor::Entry(sequence) => {
            let found = entries::table
                .filter(entries::business_id.eq(business.to_string()))
                .filter(entries::sequence.eq(sequence));
            let exists: bool = diesel::select(diesel::dsl::exists(found)).get_result(conn).await?;
            Ok(exists.then_some(Position { entry: sequence, debt: None }))
        }
        Cursor::Debt(transfer) => {
            let after: Option<Option<i64>> = transfers::table
                .find((transfer.to_string(), business.to_string()))
                .select(transfers::after_entry)
                .first(conn)
                .await
                .optional()?;
            Ok(after.flatten().map(|entry| Position { entry, debt: Some(transfer) }))
        }
    }
}

#[derive(QueryableByName)]
struct DepositRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Nullable<Text>)]
    order_id: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    reference: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = BigInt)]
    taken_paise: i64,
}

/// Adds to deposits and refunds what is left of them, and to debits what they take back.
pub(crate) async fn complete(
    mut conn: &AsyncPgConnection,
    business: BusinessId,
    lines: &mut [StatementLine],
) -> Result<(), StoreError> {
    let deposits = lines.iter().filter_map(StatementLine::deposit);
    let mut ids: Vec<String> = deposits.map(|id| id.to_string()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    ids.sort_unstable();
    ids.dedup();
    let query = statement(
        "SELECT id, kind, order_id, reference, created_at, taken_back(id, business_id) AS taken_paise
        FROM transfers WHERE id = ANY($1) AND business_id = $2",
    );
    let query = query.bind::<Array<Text>, _>(ids).bind::<Text, _>(business.to_string());
    let rows: Vec<DepositRow> = query.load(&mut conn).await?;
    let known: HashMap<String, DepositRow> = rows.into_iter().map(|row| (row.id.clone(), row)).collect();
    for line in lines {
        let Some(row) = line.deposit().and_then(|id| known.get(&id.to_string())) else { continue };
        if line.amount > Paise::ZERO {
            line.left = Some(Paise::new(line.amount.get() - row.taken_paise));
        } else {
            line.takes_back = Some(Deposit {
                kind: parse("transfers.kind", &row.kind)?,
                order: row.order_id.as_deref().map(|id| parse("transfers.order_id", id)).transpose()?,
                reference: row.reference.clone(),
                created_at: row.created_at,
            });
        }
    }
    Ok(())
}

impl StatementLine {
    /// The deposit or refund that the line is, or takes back.
    fn deposit(&self) -> Option<TransferId> {
        if self.amount > Paise::ZERO { Some(self.transfer) } else { self.reverses }
    }
}

fn line(row: Row) -> Result<StatementLine, StoreError> {
    let (transfer, kind, amount, entry, balance_after, order, reference, reverses, reason, created_at) = row;
    let kind: TransferKind = parse("transfers.kind", &kind)?;
    // A credit that gives the fee back may have its reference, but is no posting of the order.
    let fee = reference.as_deref().filter(|_| kind == TransferKind::OperatorDebit);
    let order = order.map(|order| parse("transfers.order_id", &order)).transpose()?;
    Ok(StatementLine {
        position: Position { entry, debt: None },
        transfer: parse("transfers.id", &transfer)?,
        kind: LineKind::Moved(kind),
        amount: Paise::new(amount),
        owed: if kind == TransferKind::ReceivablePayment { Paise::new(amount) } else { Paise::ZERO },
        balance_after: Paise::new(balance_after),
        order: order.or_else(|| fee.and_then(order_of_attempt_fee)),
        reference,
        reverses: reverses.map(|id| parse("transfers.reverses", &id)).transpose()?,
        reason,
        left: None,
        takes_back: None,
        created_at,
    })
}

/// A debit exceeds a balance only after it has used it up.
fn debt(row: DebtRow) -> Result<StatementLine, StoreError> {
    let (transfer, kind, amount, entry, reference, reverses, reason, created_at) = row;
    let transfer = parse("transfers.id", &transfer)?;
    Ok(StatementLine {
        position: Position { entry, debt: Some(transfer) },
        transfer,
        kind: LineKind::Owed(parse("transfers.kind", &kind)?),
        amount: Paise::ZERO,
        owed: Paise::new(-amount),
        balance_after: Paise::ZERO,
        order: reference.as_deref().and_then(order_of_attempt_fee),
        reference,
        reverses: reverses.map(|id| parse("transfers.reverses", &id)).transpose()?,
        reason,
        left: None,
        takes_back: None,
        created_at,
    })
}
