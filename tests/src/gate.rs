//! Holding a service between two steps: a trigger in its own database that waits until the test lets it go on.

use demo::eventually;
use local_stack::{Service, Stack};

use crate::PATIENCE;

/// A closed gate before a write. Whoever comes to it waits inside its statement.
pub struct Gate<'a> {
    stack: &'a Stack,
    service: Service,
}

impl<'a> Gate<'a> {
    /// Closes a gate before rows of `table` that match `condition` (over `NEW`) are written.
    pub async fn close(
        stack: &'a Stack,
        service: Service,
        table: &str,
        write: &str,
        condition: &str,
    ) -> anyhow::Result<Self> {
        let sql = format!(
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
        stack.query(service, &sql).await?;
        Ok(Self { stack, service })
    }

    /// Waits until somebody waits at the gate.
    pub async fn reached(&self) -> anyhow::Result<()> {
        eventually("the gate to be reached", PATIENCE, || async {
            Ok((self.waiting().await? > 0).then_some(()))
        })
        .await
    }

    async fn waiting(&self) -> anyhow::Result<u32> {
        let sql = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event = 'PgSleep'";
        Ok(self.stack.query(self.service, sql).await?.trim().parse()?)
    }

    /// Lets all pass, and takes the gate away.
    pub async fn open(self) -> anyhow::Result<()> {
        self.stack.query(self.service, "UPDATE gate SET is_open = TRUE").await?;
        eventually("the gate to be empty", PATIENCE, || async {
            Ok((self.waiting().await? == 0).then_some(()))
        })
        .await?;
        self.stack.query(self.service, "DROP FUNCTION wait_at_gate CASCADE; DROP TABLE gate").await?;
        Ok(())
    }
}
