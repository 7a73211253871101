//! A pooled connection that goes back to its pool only when its state is known, and the one way a transaction ends.

use diesel::connection::TransactionManagerStatus;
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::{AnsiTransactionManager, AsyncPgConnection, SimpleAsyncConnection, TransactionManager};

use crate::error::is_lost;
use crate::{Connection, StoreError};

/// A failed statement that the work did not mind leaves a transaction that PostgreSQL rolls back at `COMMIT` without
/// calling it an error. The `SELECT` fails in such a transaction, so nothing is lost in silence; it travels with the
/// `COMMIT` and costs no round trip.
const COMMIT: &str = "SELECT 1; COMMIT";

/// Holds a connection while work is done on it. Dropped in the middle (the caller went away, time ran out), it
/// closes the connection: a statement may still be running on it, and the next borrower would wait behind it.
pub(crate) struct Lease(Option<Connection>);

/// How a transaction ended that did not commit.
#[derive(Debug)]
pub(crate) enum Undone<E> {
    /// Nothing of it remains; the connection works.
    RolledBack(E),
    /// The connection was lost; a commit under way may or may not have taken effect.
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

    /// The connection; only a lease that was given back has none.
    pub(crate) fn connection(&mut self) -> Result<&mut AsyncPgConnection, StoreError> {
        self.0.as_deref_mut().ok_or_else(|| StoreError::Unavailable("the connection was given back".into()))
    }

    /// Opens a transaction. `sql` is `BEGIN` and what belongs into the same round trip.
    pub(crate) async fn begin(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(AnsiTransactionManager::begin_transaction_sql(self.connection()?, sql).await?)
    }

    /// Commits what succeeded, rolls back what failed, and gives the connection back.
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
            self.give_back();
        }
        ended
    }

    /// Returns the connection to its pool.
    pub(crate) fn give_back(mut self) {
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
    *AnsiTransactionManager::transaction_manager_status_mut(connection) = TransactionManagerStatus::default();
    Ok(())
}

async fn roll_back<E>(connection: &mut AsyncPgConnection, error: E) -> Undone<E> {
    match AnsiTransactionManager::rollback_transaction(connection).await {
        Ok(()) => Undone::RolledBack(error),
        Err(_) => Undone::Unknown(error),
    }
}
