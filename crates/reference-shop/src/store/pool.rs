//! The way to the shop's database: a pool that waits a bounded time, and the migrations.

use std::time::Duration;

use diesel::ConnectionError;
use diesel_async::pooled_connection::AsyncDieselConnectionManager;
use diesel_async::pooled_connection::deadpool::{BuildError, Object, Pool, PoolError};
use diesel_async::{AsyncConnection, AsyncMigrationHarness, AsyncPgConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");
/// Over waiting for a free connection or opening one.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the pool cannot be built: {0}")]
    Build(#[from] BuildError),
    #[error("no connection was free or could be opened within 5 seconds")]
    TimedOut,
    #[error("no connection can be opened: {0}")]
    Pool(#[from] PoolError),
    #[error("no connection can be opened: {0}")]
    Connection(#[from] ConnectionError),
    #[error("the migrations failed: {0}")]
    Migration(String),
}

pub(crate) type Connection = Object<AsyncPgConnection>;

/// The shop's pool.
pub(crate) struct Database(Pool<AsyncPgConnection>);

impl Database {
    pub(crate) fn new(settings: &settings::Database) -> Result<Self, StoreError> {
        let manager = AsyncDieselConnectionManager::<AsyncPgConnection>::new(settings.url.expose());
        Ok(Self(Pool::builder(manager).max_size(settings.pool_size).build()?))
    }

    pub(crate) async fn connection(&self) -> Result<Connection, StoreError> {
        let waiting = tokio::time::timeout(CONNECTION_TIMEOUT, self.0.get());
        Ok(waiting.await.map_err(|_| StoreError::TimedOut)??)
    }
}

/// Brings the tables up to date. Several processes may do so at once: they queue for the lock, and the later ones find
/// nothing left to do.
pub(crate) async fn migrate(settings: &settings::Database) -> Result<(), StoreError> {
    let connecting = AsyncPgConnection::establish(settings.url.expose());
    let mut connection =
        tokio::time::timeout(CONNECTION_TIMEOUT, connecting).await.map_err(|_| StoreError::TimedOut)??;
    lock(&mut connection).await.map_err(|error| StoreError::Migration(error.to_string()))?;
    let migrating = tokio::task::spawn_blocking(move || {
        AsyncMigrationHarness::new(connection).run_pending_migrations(MIGRATIONS).map(drop)
    });
    // The lock goes with the connection.
    let migrated = migrating.await.map_err(|error| StoreError::Migration(error.to_string()))?;
    migrated.map_err(|error| StoreError::Migration(error.to_string()))
}

async fn lock(connection: &mut AsyncPgConnection) -> diesel::QueryResult<()> {
    use diesel_async::RunQueryDsl;
    diesel::sql_query("SELECT pg_advisory_lock(7000)").execute(connection).await.map(drop)
}
