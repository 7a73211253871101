//! Migrations, up and down.

use std::fs;
use std::path::Path;

use crate::invariants::assert_consistent;
use crate::ledger_sql::with_a_posted_debit;

#[tokio::test]
async fn the_migrations_can_be_undone() {
    let (mut harness, _) = with_a_posted_debit().await;
    harness.stop().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut migrations: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    migrations.sort();
    for migration in migrations.iter().rev() {
        harness.script(&fs::read_to_string(migration.join("down.sql")).unwrap()).await.unwrap();
    }
    for migration in migrations {
        harness.script(&fs::read_to_string(migration.join("up.sql")).unwrap()).await.unwrap();
    }
    assert_eq!(harness.number("SELECT count(*) FROM entries").await, 0);
    harness.start_again();
    // What was undone and done again works as before.
    let business = harness.funded(1_000).await;
    harness.debit(business, harness.order(), 1, 100).await.unwrap();
    assert_consistent(&harness).await;
}
