//! Checks that the databases contain everything that was answered.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::ensure;
use local_stack::{Service, Stack};

/// A query whose count increases with each answered call.
pub(crate) struct Tally<'a> {
    stack: &'a Stack,
    service: Service,
    sql: &'static str,
    counted: AtomicUsize,
}

impl<'a> Tally<'a> {
    pub(crate) async fn begin(stack: &'a Stack, service: Service, sql: &'static str) -> anyhow::Result<Self> {
        let counted = AtomicUsize::new(count(stack, service, sql).await?);
        Ok(Self { stack, service, sql, counted })
    }

    /// Fails unless the count has grown by exactly this much since the last call.
    pub(crate) async fn has_grown_by(&self, calls: usize) -> anyhow::Result<()> {
        let now = count(self.stack, self.service, self.sql).await?;
        let before = self.counted.swap(now, Ordering::Relaxed);
        ensure!(
            now == before + calls,
            "{calls} calls were answered, but the count went from {before} to {now}: {}",
            self.sql
        );
        Ok(())
    }
}

/// Posted debits.
pub(crate) const POSTED: &str = "SELECT count(*) FROM debits WHERE outcome = 'posted'";

/// Queries that count inconsistent rows of the wallet's ledger.
const WRONG: [&str; 3] = [
    // A balance equals the sum of its entries, and its entry count matches.
    "SELECT count(*) FROM wallets FULL JOIN (
        SELECT business_id, sum(amount_paise) AS paise, count(*) AS entries FROM entries
        WHERE account = 'business_wallet' GROUP BY business_id) AS held USING (business_id)
     WHERE (balance_paise, entry_count) IS DISTINCT FROM (paise, entries) OR balance_paise < 0",
    "SELECT count(*) FROM (SELECT FROM entries GROUP BY transfer_id HAVING sum(amount_paise) <> 0) AS wrong",
    // Each posted debit has one fee transfer, and vice versa.
    "SELECT count(*) FROM (SELECT * FROM debits WHERE outcome = 'posted') AS debit
     FULL JOIN (SELECT * FROM transfers WHERE kind = 'delivery_fee') AS fee ON fee.id = debit.transfer_id
     WHERE fee.order_id IS DISTINCT FROM debit.order_id",
];

/// Fails when the wallet's ledger is inconsistent.
pub(crate) async fn ledger_is_consistent(stack: &Stack) -> anyhow::Result<()> {
    for sql in WRONG {
        let wrong = count(stack, Service::Wallet, sql).await?;
        ensure!(wrong == 0, "{wrong} rows are wrong: {sql}");
    }
    Ok(())
}

async fn count(stack: &Stack, service: Service, sql: &str) -> anyhow::Result<usize> {
    Ok(stack.query(service, sql).await?.parse()?)
}
