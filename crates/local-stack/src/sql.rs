//! SQL for the stack itself, and for tests that inspect a service's database.

use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, SimpleQueryRow};

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const LIMIT: Duration = Duration::from_secs(60);

/// Runs SQL and returns the rows, one per line, with `|` between columns. Several statements run in one transaction.
///
/// # Errors
/// When the server refuses a statement or is unreachable.
pub async fn query(url: &str, sql: &str) -> anyhow::Result<String> {
    let session = Session::open(url).await?;
    let rows = session.query(sql).await;
    session.close().await;
    rows
}

pub(crate) struct Session {
    client: Client,
    connection: JoinHandle<()>,
}

impl Session {
    pub(crate) async fn open(url: &str) -> anyhow::Result<Self> {
        let config: Config = url.parse().context("the database's URL")?;
        // Boxed, because the compiler limits the depth of a test's nested futures.
        let connecting = timeout(CONNECT_LIMIT, Box::pin(config.connect(NoTls)));
        let (client, connection) =
            connecting.await.context("PostgreSQL did not answer in time")?.map_err(with_server_message)?;
        // A connection error also fails the query, which reports it.
        let connection = tokio::spawn(async { connection.await.unwrap_or_default() });
        Ok(Self { client, connection })
    }

    /// As [`query`].
    pub(crate) async fn query(&self, sql: &str) -> anyhow::Result<String> {
        let messages = timeout(LIMIT, Box::pin(self.client.simple_query(sql)))
            .await
            .context("PostgreSQL took too long")?
            .map_err(with_server_message)?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(line(row)),
            _ => None,
        });
        Ok(rows.collect::<Vec<_>>().join("\n"))
    }

    /// Returns after the server has closed the session, because a database in use cannot be copied.
    pub(crate) async fn close(self) {
        let Self { client, connection } = self;
        drop(client);
        // The task neither panics nor gets cancelled, so joining it cannot fail.
        let _ended = connection.await;
    }
}

/// Adds the server's message, because the driver's text is only "db error".
fn with_server_message(error: tokio_postgres::Error) -> anyhow::Error {
    match error.as_db_error() {
        Some(refusal) => anyhow!("{refusal}"),
        None => error.into(),
    }
}

fn line(row: &SimpleQueryRow) -> String {
    let columns = (0..row.len()).map(|column| row.get(column).unwrap_or_default());
    columns.collect::<Vec<_>>().join("|")
}
