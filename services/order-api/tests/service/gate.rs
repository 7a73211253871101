//! Holding the service inside a write: a trigger in its own database that waits until the test lets it go on.

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use test_kit::until;

use crate::harness::OrderApi;

/// A closed gate before a write. A statement that reaches it waits.
pub(crate) struct Gate<'a> {
    service: &'a OrderApi,
    conn: AsyncPgConnection,
}

impl<'a> Gate<'a> {
    /// Closes a gate before rows of `table` that match `condition` (over `NEW`) are written.
    pub(crate) async fn close(service: &'a OrderApi, table: &str, write: &str, condition: &str) -> Self {
        let mut conn = service.connection().await;
        let gate = format!(
            "CREATE TABLE gate (is_open BOOLEAN NOT NULL);
             INSERT INTO gate VALUES (FALSE);
             CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 WHILE NOT (SELECT is_open FROM gate) LOOP PERFORM pg_sleep(0.02); END LOOP;
                 RETURN NEW;
             END $$;
             CREATE TRIGGER gate BEFORE {write} ON {table} FOR EACH ROW WHEN ({condition})
             EXECUTE FUNCTION wait_at_gate();"
        );
        conn.batch_execute(&gate).await.unwrap();
        Self { service, conn }
    }

    /// Waits until somebody waits at the gate.
    pub(crate) async fn reached(&self) {
        until("the gate is reached", async || self.waiting().await > 0).await;
    }

    async fn waiting(&self) -> i64 {
        let waiting = "pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
        self.service.count(waiting).await
    }

    /// Lets all pass, and takes the gate away.
    pub(crate) async fn open(mut self) {
        self.conn.batch_execute("UPDATE gate SET is_open = TRUE").await.unwrap();
        until("the gate is empty", async || self.waiting().await == 0).await;
        self.conn.batch_execute("DROP FUNCTION wait_at_gate CASCADE; DROP TABLE gate").await.unwrap();
    }
}
