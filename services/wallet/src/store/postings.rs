//! Writes wallets, entries, transfers and debits in one prepared statement. One call may write many transfers, so that
//! they share a commit.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Paise, TransferId};
use postgres::{Statement, StoreError, statement};

use super::columns::expect_rows;
use super::transfers::{Cause, NewTransfer};
use crate::domain::{Debit, Line, Wallet, lines};

/// The changes of one transaction. The caller has locked the wallets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Postings<'a> {
    /// Their state after the transfers.
    pub(crate) wallets: &'a BTreeMap<BusinessId, Wallet>,
    pub(crate) transfers: &'a [NewTransfer],
    /// Posted debits with their transfer.
    pub(crate) debits: &'a [(Debit, Option<TransferId>)],
}

/// The constraint triggers of the ledger run after the whole statement. Inserts write every row or fail, so only the updated
/// wallets must be counted.
const WRITE: &str = "
    WITH updated_wallets AS (
        UPDATE wallets SET balance_paise = new.balance_paise, entry_count = new.entry_count
        FROM unnest($2, $3, $4) AS new (business_id, balance_paise, entry_count)
        WHERE wallets.business_id = new.business_id
        RETURNING 1
    ), added_entries AS (
        INSERT INTO entries
            (transfer_id, account, business_id, amount_paise, sequence, balance_after_paise, created_at)
        SELECT new.*, $1 FROM unnest($5, $6, $7, $8, $9, $10) AS new
    ), added_transfers AS (
        INSERT INTO transfers (id, kind, business_id, order_id, reference, reverses, reason, created_at)
        SELECT new.*, $1 FROM unnest($11, $12, $13, $14, $15, $16, $17) AS new
    ), added_debits AS (
        INSERT INTO debits
            (order_id, attempt, business_id, amount_paise, outcome, transfer_id, balance_after_paise, created_at)
        SELECT new.*, $1 FROM unnest($18, $19, $20, $21, $22, $23, $24) AS new
    )
    SELECT count(*) AS wallets FROM updated_wallets";

#[derive(QueryableByName)]
struct Written {
    #[diesel(sql_type = BigInt)]
    wallets: i64,
}

pub(crate) async fn write(
    mut conn: &AsyncPgConnection,
    postings: Postings<'_>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (mut entries, mut transfers) = (EntryColumns::default(), TransferColumns::default());
    for transfer in postings.transfers {
        transfers.add(transfer);
        for line in lines(transfer.cause.kind(), &transfer.entry) {
            entries.add(transfer, &line);
        }
    }
    let write = statement(WRITE).bind::<Timestamptz, _>(now);
    let write = entries.bind(bind_wallets(postings.wallets, write));
    let write = bind_debits(postings.debits, transfers.bind(write));
    let written: Written = write.get_result(&mut conn).await?;
    expect_rows(
        "updating wallets",
        postings.wallets.len(),
        usize::try_from(written.wallets).unwrap_or_default(),
    )
}

fn bind_wallets<'a>(wallets: &BTreeMap<BusinessId, Wallet>, statement: Statement<'a>) -> Statement<'a> {
    let numbers = |number: fn(&Wallet) -> i64| wallets.values().map(number).collect::<Vec<_>>();
    statement
        .bind::<Array<Text>, _>(wallets.keys().map(BusinessId::to_string).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(numbers(|wallet| wallet.balance.get()))
        .bind::<Array<BigInt>, _>(numbers(|wallet| wallet.entry_count))
}

/// Entries by column: each array is one parameter.
#[derive(Default)]
struct EntryColumns {
    transfers: Vec<String>,
    accounts: Vec<&'static str>,
    businesses: Vec<String>,
    amounts: Vec<i64>,
    sequences: Vec<Option<i64>>,
    balances: Vec<Option<i64>>,
}

impl EntryColumns {
    fn add(&mut self, transfer: &NewTransfer, line: &Line) {
        self.transfers.push(transfer.id.to_string());
        self.accounts.push(line.account.as_str());
        self.businesses.push(transfer.business.to_string());
        self.amounts.push(line.amount.get());
        self.sequences.push(line.sequence);
        self.balances.push(line.balance_after.map(Paise::get));
    }

    fn bind(self, statement: Statement<'_>) -> Statement<'_> {
        statement
            .bind::<Array<Text>, _>(self.transfers)
            .bind::<Array<Text>, _>(self.accounts)
            .bind::<Array<Text>, _>(self.businesses)
            .bind::<Array<BigInt>, _>(self.amounts)
            .bind::<Array<Nullable<BigInt>>, _>(self.sequences)
            .bind::<Array<Nullable<BigInt>>, _>(self.balances)
    }
}

/// Transfers by column.
#[derive(Default)]
struct TransferColumns {
    ids: Vec<String>,
    kinds: Vec<&'static str>,
    businesses: Vec<String>,
    orders: Vec<Option<String>>,
    references: Vec<Option<String>>,
    reverses: Vec<Option<String>>,
    reasons: Vec<Option<String>>,
}

impl TransferColumns {
    fn add(&mut self, transfer: &NewTransfer) {
        let (order, reference, reverses) = match &transfer.cause {
            Cause::DeliveryFee { order } => (Some(order.to_string()), None, None),
            Cause::Refund { order, reverses } => (Some(order.to_string()), None, Some(reverses.to_string())),
            Cause::TopUp { reference } | Cause::OperatorCredit { reference } => {
                (None, Some(reference.clone()), None)
            }
            Cause::OperatorDebit { reference, reverses, .. } => {
                (None, Some(reference.clone()), reverses.map(|id| id.to_string()))
            }
            Cause::TopUpReversal { reference, reverses } => {
                (None, Some(reference.clone()), Some(reverses.to_string()))
            }
            Cause::ReceivablePayment => (None, None, None),
        };
        self.ids.push(transfer.id.to_string());
        self.kinds.push(transfer.cause.kind().as_str());
        self.businesses.push(transfer.business.to_string());
        self.orders.push(order);
        self.references.push(reference);
        self.reverses.push(reverses);
        self.reasons.push(transfer.cause.reason().map(str::to_owned));
    }

    fn bind(self, statement: Statement<'_>) -> Statement<'_> {
        statement
            .bind::<Array<Text>, _>(self.ids)
            .bind::<Array<Text>, _>(self.kinds)
            .bind::<Array<Text>, _>(self.businesses)
            .bind::<Array<Nullable<Text>>, _>(self.orders)
            .bind::<Array<Nullable<Text>>, _>(self.references)
            .bind::<Array<Nullable<Text>>, _>(self.reverses)
            .bind::<Array<Nullable<Text>>, _>(self.reasons)
    }
}

fn bind_debits<'a>(debits: &[(Debit, Option<TransferId>)], statement: Statement<'a>) -> Statement<'a> {
    let texts = |text: fn(&Debit) -> String| debits.iter().map(|(debit, _)| text(debit)).collect::<Vec<_>>();
    let amounts =
        |amount: fn(&Debit) -> Paise| debits.iter().map(|(debit, _)| amount(debit).get()).collect::<Vec<_>>();
    let transfers = debits.iter().map(|(_, transfer)| transfer.map(|id| id.to_string()));
    statement
        .bind::<Array<Text>, _>(texts(|debit| debit.id.order.to_string()))
        .bind::<Array<Integer>, _>(debits.iter().map(|(debit, _)| debit.id.attempt).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(texts(|debit| debit.business.to_string()))
        .bind::<Array<BigInt>, _>(amounts(|debit| debit.amount))
        .bind::<Array<Text>, _>(debits.iter().map(|(debit, _)| debit.outcome.as_str()).collect::<Vec<_>>())
        .bind::<Array<Nullable<Text>>, _>(transfers.collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(amounts(|debit| debit.balance_after))
}
