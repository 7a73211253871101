//! Migrations, up and down.

use crate::invariants::assert_consistent;
use crate::ledger_sql::with_a_posted_debit;

/// A migration: up and down.
macro_rules! migration {
    ($name:literal) => {
        (
            include_str!(concat!("../../migrations/", $name, "/up.sql")),
            include_str!(concat!("../../migrations/", $name, "/down.sql")),
        )
    };
}

/// The migrations of this service, in their order.
const MIGRATIONS: [(&str, &str); 19] = [
    migration!("2026-01-20-000200_ledger"),
    migration!("2026-11-21-000210_payments"),
    migration!("2026-11-21-000220_cash"),
    migration!("2026-11-21-000230_reconciliation"),
    migration!("2026-11-21-000240_wallet_check"),
    migration!("2026-11-21-000250_fitting_entries"),
    migration!("2026-11-21-000251_what_stays"),
    migration!("2026-11-21-000252_cash_still_owed"),
    migration!("2026-11-22-000500_transfers_key"),
    migration!("2026-11-22-000501_entries_key"),
    migration!("2026-11-22-000502_debits_key"),
    migration!("2026-11-22-000503_cash_key"),
    migration!("2026-11-22-000504_cash_order_id"),
    migration!("2026-11-22-000505_top_ups_key"),
    migration!("2026-11-22-000506_transfers_one_refund"),
    migration!("2026-11-22-000507_transfers_one_top_up"),
    migration!("2026-11-22-000508_keys_with_the_business"),
    migration!("2026-11-22-000509_references_hold"),
    migration!("2026-11-22-000510_top_up_check_by_business"),
];

#[test]
fn no_migration_is_left_out_here() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), MIGRATIONS.len());
}

#[tokio::test]
async fn the_migrations_can_be_undone() {
    let (mut harness, _) = with_a_posted_debit().await;
    harness.stop().await;
    for (_, down) in MIGRATIONS.iter().rev() {
        harness.script(down).await.unwrap();
    }
    for (up, _) in MIGRATIONS {
        harness.script(up).await.unwrap();
    }
    assert_eq!(harness.number("SELECT count(*) FROM entries").await, 0);
    harness.start_again();
    // What was undone and done again works as before.
    let business = harness.funded(1_000).await;
    harness.debit(business, harness.order(), 1, 100).await.unwrap();
    assert_consistent(&harness).await;
}

/// A database of the first version, with money in it, becomes one of this version.
#[tokio::test]
async fn books_of_the_first_version_are_taken_over() {
    let (mut harness, business) = with_a_posted_debit().await;
    harness.stop().await;
    for (_, down) in MIGRATIONS[1..].iter().rev() {
        harness.script(down).await.unwrap();
    }
    for (up, _) in &MIGRATIONS[1..] {
        harness.script(up).await.unwrap();
    }
    harness.start_again();
    assert_eq!(harness.balance(business).await, 900);
    harness.debit(business, harness.order(), 1, 100).await.unwrap();
    assert_consistent(&harness).await;
}
