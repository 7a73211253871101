//! Migrations with a real server.

use std::time::Duration;

use crate::servers::settings;
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use local_stack::query;
use postgres::Schema;
use settings::Database;

const FIRST: EmbeddedMigrations = embed_migrations!("tests/migrations/first");
/// Builds an index concurrently, which requires a migration without a transaction.
const CONCURRENT: EmbeddedMigrations = embed_migrations!("tests/migrations/concurrent");
const SECOND: EmbeddedMigrations = embed_migrations!("tests/migrations/second");
/// As CONCURRENT, with a unique index.
const THIRD: EmbeddedMigrations = embed_migrations!("tests/migrations/third");

async fn migrate(settings: &Database, sets: Vec<EmbeddedMigrations>) -> anyhow::Result<()> {
    postgres::migrate(settings, sets, postgres::ROWS).await
}

#[tokio::test]
async fn instances_that_start_together_migrate_once() {
    let url = test_kit::database_url().await;
    let settings = settings(&url, 2);
    // Each takes a while, so that they overlap.
    let instances = (0..4).map(|_| migrate(&settings, vec![FIRST, SECOND]));
    futures_util::future::try_join_all(instances).await.unwrap();
    assert_eq!(
        query(&url, "SELECT string_agg(word, ' ' ORDER BY word) FROM words").await.unwrap(),
        "one two"
    );
    migrate(&settings, vec![FIRST, SECOND]).await.unwrap();
    assert_eq!(query(&url, "SELECT count(*) FROM words").await.unwrap(), "2");
}

#[tokio::test]
async fn an_unfinished_index_is_rebuilt() {
    const STATE: &str = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'words_of_each_one'::regclass";
    let url = test_kit::database_url().await;
    let settings = settings(&url, 2);
    migrate(&settings, vec![FIRST, SECOND]).await.unwrap();
    query(&url, "INSERT INTO words VALUES ('two')").await.unwrap();
    migrate(&settings, vec![FIRST, SECOND, THIRD]).await.unwrap_err();
    assert_eq!(query(&url, STATE).await.unwrap(), "f", "the failed build leaves an invalid index");
    let one = "DELETE FROM words WHERE ctid IN (SELECT max(ctid) FROM words WHERE word = 'two')";
    query(&url, one).await.unwrap();
    migrate(&settings, vec![FIRST, SECOND, THIRD]).await.unwrap();
    assert_eq!(query(&url, STATE).await.unwrap(), "t");

    // The server may finish an index although its migration was killed before it was recorded.
    let latest = "DELETE FROM __diesel_schema_migrations
        WHERE version = (SELECT max(version) FROM __diesel_schema_migrations)";
    query(&url, latest).await.unwrap();
    migrate(&settings, vec![FIRST, SECOND, THIRD]).await.unwrap();
}

#[tokio::test]
async fn another_services_database_is_refused() {
    let settings = settings(&test_kit::database_url().await, 2);
    migrate(&settings, vec![FIRST, CONCURRENT]).await.unwrap();
    // The first program does not know FIRST, which is older. The second one lacks SECOND, and does not know CONCURRENT.
    for other in [vec![SECOND], vec![FIRST, SECOND]] {
        let refused = migrate(&settings, other).await.unwrap_err();
        assert!(refused.to_string().contains("another service's"), "{refused}");
    }
    // An older program ignores the latest version.
    migrate(&settings, vec![FIRST]).await.unwrap();
}

#[tokio::test]
async fn two_sets_with_one_version_are_refused() {
    let url = test_kit::database_url().await;
    let error = migrate(&settings(&url, 2), vec![FIRST, FIRST]).await.unwrap_err();
    assert!(error.to_string().contains("version"), "{error}");
    assert_eq!(query(&url, "SELECT to_regclass('words') IS NULL").await.unwrap(), "t");
}

#[tokio::test]
async fn a_new_instance_waits_for_another_migration() {
    let url = test_kit::database_url().await;
    let settings = settings(&url, 2);
    let (former, current) =
        (Schema::new(&settings, &[FIRST]).unwrap(), Schema::new(&settings, &[FIRST, SECOND]).unwrap());
    let missing = former.check().await.unwrap_err();
    assert!(format!("{missing:#}").contains("__diesel_schema_migrations"), "{missing:#}");

    migrate(&settings, vec![FIRST]).await.unwrap();
    former.check().await.unwrap();
    let missing = current.check().await.unwrap_err();
    assert!(missing.to_string().contains("have not been run"), "{missing:#}");

    // Missing tables are not a refusal.
    let (waited, migrated) =
        tokio::join!(current.wait(Duration::ZERO), migrate(&settings, vec![FIRST, SECOND]));
    migrated.unwrap();
    waited.unwrap();
    // Additional migrations are allowed.
    former.check().await.unwrap();
}

/// Waiting for it would hide the mistake.
#[tokio::test]
async fn a_wrong_password_or_database_ends_the_wait() {
    let url = test_kit::database_url().await;
    let wrong = url.replace('@', "-not@");
    let missing = format!("{}/nothing", url.rsplit_once('/').unwrap().0);
    for (url, reason) in [(wrong, "password authentication failed"), (missing, "does not exist")] {
        let schema = Schema::new(&settings(&url, 2), &[FIRST]).unwrap();
        let refused = schema.wait(Duration::ZERO).await.unwrap_err();
        assert!(format!("{refused:#}").contains(reason), "{refused:#}");
    }
}

#[tokio::test]
async fn an_index_is_built_concurrently_while_others_wait_for_their_turn() {
    let url = test_kit::database_url().await;
    let settings = settings(&url, 2);
    migrate(&settings, vec![FIRST]).await.unwrap();
    query(&url, "INSERT INTO words SELECT number::text FROM generate_series(1, 100000) AS number")
        .await
        .unwrap();
    let at_once = (0..4).map(|_| migrate(&settings, vec![FIRST, CONCURRENT]));
    for migrated in futures_util::future::join_all(at_once).await {
        migrated.unwrap();
    }
    let valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'words_backwards'::regclass";
    assert_eq!(query(&url, valid).await.unwrap(), "t");
}
