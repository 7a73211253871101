//! A server with messages in another language. Our role gets English messages, or the error says how to configure it.

use diesel_async::SimpleAsyncConnection;
use local_stack::query;
use postgres::{Database, Schema, StoreError};

use crate::servers::{OwnServer, settings};

/// Waits for a lock that another connection holds.
async fn meet_a_lock(database: &Database) -> StoreError {
    let held = database.transaction(async |holder| {
        holder.batch_execute("LOCK TABLE words").await?;
        let waited = database
            .transaction(async |waiter| {
                waiter.batch_execute("SET LOCAL lock_timeout = '50ms'; LOCK TABLE words").await?;
                Ok::<_, StoreError>(())
            })
            .await;
        Ok::<_, StoreError>(waited.unwrap_err())
    });
    held.await.unwrap()
}

/// The error of a service that starts with this role.
async fn reported(url: &str) -> String {
    let error = Schema::new(&settings(url, 2), &[]).unwrap().check().await.unwrap_err();
    format!("{error:#}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_another_language_sends_english_messages_to_our_roles() {
    let own = OwnServer::speaking(Some("de")).await;
    let admin = own.server.admin_url();
    let german = format!("{:#}", query(&admin, "SELECT 1 / 0").await.unwrap_err());
    assert!(german.contains("Division durch Null"), "are PostgreSQL's translations installed? {german}");
    query(&own.url, "CREATE TABLE words (word TEXT)").await.unwrap();
    let error = meet_a_lock(&own.database(2)).await;
    assert!(error.is_unavailable(), "{error}");
    assert!(!reported(&own.url).await.contains("lc_messages"));

    // A role without the setting.
    query(&admin, "ALTER ROLE tested RESET lc_messages").await.unwrap();
    let error = meet_a_lock(&own.database(2)).await;
    assert!(!error.is_unavailable(), "the error is not recognised: {error}");
    let reported = reported(&own.url).await;
    assert!(reported.ends_with("ALTER ROLE tested SET lc_messages TO 'C'"), "{reported}");
}
