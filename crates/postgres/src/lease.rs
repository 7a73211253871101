//! A pooled connection that returns to its pool only in a known state, and the end of transactions.

use diesel::connection::TransactionManagerStatus;
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::{AnsiTransactionManager, AsyncPgConnection, SimpleAsyncConnection, TransactionManager};

use crate::StoreError;
use crate::database::Connection;
use crate::error::is_lost;

/// Detects a failed statement that the work ignored: PostgreSQL would roll back at `COMMIT` without an error. The `SELECT`
/// fails in such a transaction. It is sent with the `COMMIT` and costs no extra round trip.
const COMMIT: &str = "SELECT 1; COMMIT";

/// Holds a connection during work. If it is dropped early, because the caller went away or the time is up, it closes the
/// connection: a statement may still be running, and the next user would wait for it.
pub(crate) struct Lease(Option<Connection>);

/// Why a transaction did not commit.
#[derive(Debug)]
pub(crate) enum Undone<E> {
    /// It was rolled back. The connection works.
    RolledBack(E),
    /// The connection was lost. The commit may have taken effect.
    Unknown(E),
}

impl<E> Undone<E> {
    pub(crate) fn into_error(self) -> E {
        match self {
            Self::RolledBack(error) | Self::Unknown(error) => error,
        }
    }
}

impl Lease {
    pub(crate) fn new(connection: Connection) -> Self {
        Self(Some(connection))
    }

    /// The connection. `Err` only after it was returned to the pool.
    pub(crate) fn connection(&mut self) -> Result<&mut AsyncPgConnection, StoreError> {
        self.0
            .as_deref_mut()
            .ok_or_else(|| StoreError::Unavailable("the connection was returned to the pool".into()))
    }

    /// Opens a transaction. `sql` is `BEGIN`, plus statements for the same round trip.
    pub(crate) async fn begin(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(AnsiTransactionManager::begin_transaction_sql(self.connection()?, sql).await?)
    }

    /// Commits a success, rolls back a failure, and returns the connection to the pool.
    pub(crate) async fn finish<R, E>(mut self, outcome: Result<R, E>) -> Result<R, Undone<E>>
    where
        E: From<StoreError>,
    {
        let connection = self.connection().map_err(|error| Undone::Unknown(error.into()))?;
        let ended = match outcome {
            Ok(value) => match commit(connection).await {
                Ok(()) => Ok(value),
                Err(error) if is_lost(&error) => Err(Undone::Unknown(StoreError::from(error).into())),
                Err(error) => Err(roll_back(connection, StoreError::from(error).into()).await),
            },
            Err(error) => Err(roll_back(connection, error).await),
        };
        if !matches!(ended, Err(Undone::Unknown(_))) {
            self.return_to_pool();
        }
        ended
    }

    /// Returns the connection to its pool.
    pub(crate) fn return_to_pool(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            drop(Object::take(connection));
        }
    }
}

async fn commit(connection: &mut AsyncPgConnection) -> Result<(), diesel::result::Error> {
    connection.batch_execute(COMMIT).await?;
    set_idle(connection);
    Ok(())
}

/// Diesel does not notice statements that are sent as text.
fn set_idle(connection: &mut AsyncPgConnection) {
    *AnsiTransactionManager::transaction_manager_status_mut(connection) = TransactionManagerStatus::default();
}

/// Opens a transaction that Diesel does not know, so the work cannot nest another one in it.
pub(crate) async fn begin_untracked(mut connection: &AsyncPgConnection, sql: &str) -> Result<(), StoreError> {
    Ok(connection.batch_execute(sql).await?)
}

async fn roll_back<E>(connection: &mut AsyncPgConnection, error: E) -> Undone<E> {
    match connection.batch_execute("ROLLBACK").await {
        Ok(()) => {
            set_idle(connection);
            Undone::RolledBack(error)
        }
        Err(_) => Undone::Unknown(error),
    }
}
