//! SQL for the stack's own housekeeping, and for tests that look into a service's database.

use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, SimpleQueryRow};

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const LIMIT: Duration = Duration::from_secs(60);

/// Runs SQL in the database of the URL and answers its rows: a line per row, `|` between columns. Several statements are one
/// transaction.
///
/// # Errors
/// When the server refuses a statement or cannot be reached.
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
        // Boxed: the compiler follows the futures of a whole test only so deep.
        let connecting = timeout(CONNECT_LIMIT, Box::pin(config.connect(NoTls)));
        let (client, connection) =
            connecting.await.context("PostgreSQL does not answer")?.map_err(in_words)?;
        // What ends a connection also fails the query on it, which tells.
        let connection = tokio::spawn(async { connection.await.unwrap_or_default() });
        Ok(Self { client, connection })
    }

    /// As [`query`].
    pub(crate) async fn query(&self, sql: &str) -> anyhow::Result<String> {
        let messages = timeout(LIMIT, Box::pin(self.client.simple_query(sql)))
            .await
            .context("PostgreSQL took too long")?
            .map_err(in_words)?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(line(row)),
            _ => None,
        });
        Ok(rows.collect::<Vec<_>>().join("\n"))
    }

    /// Returns once the server was told: a database in use cannot be copied.
    pub(crate) async fn close(self) {
        let Self { client, connection } = self;
        drop(client);
        // It cannot fail: the task neither panics nor is it cancelled.
        let _ended = connection.await;
    }
}

/// The driver's own text is only "db error"; the server's says which.
fn in_words(error: tokio_postgres::Error) -> anyhow::Error {
    match error.as_db_error() {
        Some(refusal) => anyhow!("{refusal}"),
        None => error.into(),
    }
}

fn line(row: &SimpleQueryRow) -> String {
    let columns = (0..row.len()).map(|column| row.get(column).unwrap_or_default());
    columns.collect::<Vec<_>>().join("|")
}
