//! Writers wait for no migration longer than services do.

use std::time::Duration;

use anyhow::Context;
use local_stack::{Service, Stack};

/// A service gives up its statement after waiting for a lock for so long.
const LOCK_TIMEOUT: &str = "3s";
const PAUSE: Duration = Duration::from_millis(20);

/// Locks each table of the backlog as a writer does, one at a time, until it is dropped.
///
/// # Errors
/// When a table stays locked.
pub(crate) async fn are_short(stack: &Stack) -> anyhow::Result<()> {
    let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename !~ '^__'";
    let tables = stack.query(Service::WebhookDispatcher, tables).await?;
    for table in tables.lines().cycle() {
        let write = format!(
            "SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'; LOCK TABLE \"{table}\" IN ROW EXCLUSIVE MODE"
        );
        stack.query(Service::WebhookDispatcher, &write).await.with_context(|| format!("locking {table}"))?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
