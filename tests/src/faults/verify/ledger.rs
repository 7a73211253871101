//! Verifies the whole ledger: its sums, and the service's own reconciliation, which must find nothing.

use anyhow::{bail, ensure};
use local_stack::{Service, Stack};

use super::number;

/// # Errors
/// When a sum is wrong, or the reconciliation finds something.
pub async fn is_sound(stack: &Stack) -> anyhow::Result<()> {
    for (what, sql) in [
        (
            "transfers that do not sum to zero",
            "SELECT count(*) FROM (SELECT FROM entries GROUP BY transfer_id HAVING sum(amount_paise) <> 0) AS t",
        ),
        ("balances below zero", "SELECT count(*) FROM wallets WHERE balance_paise < 0"),
        (
            "orders with two posted debits",
            "SELECT count(*) FROM (
                 SELECT FROM debits WHERE outcome = 'posted' GROUP BY order_id HAVING count(*) > 1) AS t",
        ),
    ] {
        let found = number(stack, Service::Wallet, sql).await?;
        ensure!(found == 0, "{found} {what}");
    }
    let reconciled = stack.run(Service::Wallet, &["reconcile"]).await?;
    if !reconciled.status.success() {
        let (out, err) =
            (String::from_utf8_lossy(&reconciled.stdout), String::from_utf8_lossy(&reconciled.stderr));
        bail!("the reconciliation exited with {}: {out}{err}", reconciled.status);
    }
    Ok(())
}
