//! Pauses a service between two steps: a trigger in its database blocks a write until the test releases it.

use crate::until;

/// Blocks a write until it is opened.
pub struct Gate {
    database_url: String,
}

impl Gate {
    /// Blocks writes to rows of `table` that match `condition` (over `NEW`).
    pub async fn close(database_url: &str, table: &str, write: &str, condition: &str) -> Self {
        let gate = Self { database_url: database_url.to_owned() };
        gate.query(&format!(
            "CREATE TABLE gate (is_open BOOLEAN NOT NULL);
             INSERT INTO gate VALUES (FALSE);
             CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 WHILE NOT (SELECT is_open FROM gate) LOOP PERFORM pg_sleep(0.02); END LOOP;
                 RETURN NEW;
             END $$;
             CREATE TRIGGER gate BEFORE {write} ON {table} FOR EACH ROW WHEN ({condition})
             EXECUTE FUNCTION wait_at_gate();"
        ))
        .await;
        gate
    }

    /// Waits until a statement is blocked.
    pub async fn reached(&self) {
        until("the gate is reached", async || self.has_waiting().await).await;
    }

    /// Releases all blocked statements and removes the gate.
    pub async fn open(self) {
        self.query("UPDATE gate SET is_open = TRUE").await;
        until("the gate is empty", async || !self.has_waiting().await).await;
        self.query("DROP FUNCTION wait_at_gate CASCADE; DROP TABLE gate").await;
    }

    async fn has_waiting(&self) -> bool {
        let waiting = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event = 'PgSleep'";
        self.query(waiting).await != "0"
    }

    async fn query(&self, sql: &str) -> String {
        local_stack::query(&self.database_url, sql).await.expect("the database answers")
    }
}
