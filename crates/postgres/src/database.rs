//! The pool. Whoever asks it waits a bounded time, whatever state the server is in.

use std::sync::Arc;
use std::time::Duration;

use diesel::sql_types::Integer;
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::pooled_connection::deadpool::{Hook, HookError, Object, Pool, PoolError};
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, PoolError as ConnectError, RecyclingMethod,
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use metrics::gauge;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use crate::connect::{SessionLimits, Target, configure, connect, in_full};
use crate::lease::Lease;
use crate::{StoreError, Work};

/// A connection of the pool. Dropped in the middle of a transaction, it is closed instead of reused.
pub type Connection = Object<AsyncPgConnection>;

/// The pool of a service's own database. Clones share it.
#[derive(Clone)]
pub struct Database {
    pool: Pool<AsyncPgConnection>,
}

/// How long a caller waits for a free connection, or for a new one to be made.
const CHECKOUT: Duration = Duration::from_secs(2);
/// How long a whole transaction may take, waiting for its connection included.
const TRANSACTION: Duration = Duration::from_secs(10);
/// How long the reads of one caller may take, waiting for the connection included.
const READ: Duration = Duration::from_secs(7);
/// A connection that nobody used for this long may be half open; one used since is taken as it is.
const FRESH: Duration = Duration::from_secs(10);
/// How long a connection has to show that it is alive.
const PING: Duration = Duration::from_secs(1);

impl Database {
    /// Makes no connection yet: the server may come up later. Connections belong to the tokio runtime that this is
    /// called on, whoever asks for them: those made on the runtime of an HTTP worker would end with it, in the middle
    /// of what the service still does while it stops.
    ///
    /// # Errors
    /// When the URL cannot be read.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(settings: &settings::Database) -> Result<Self, StoreError> {
        let target = configure(&settings.url, SessionLimits::SERVING)
            .map_err(|error| StoreError::Corrupt(format!("the database URL: {error}")))?;
        let (target, runtime) = (Arc::new(target), Handle::current());
        let mut manager = ManagerConfig::default();
        // Closed connections are seen without asking the server. Asking at each checkout would cost a round trip.
        manager.recycling_method = RecyclingMethod::Fast;
        manager.custom_setup = Box::new(move |_| connect_on(runtime.clone(), target.clone()).boxed());
        let manager = AsyncDieselConnectionManager::new_with_config("", manager);
        let pool = Pool::builder(manager)
            .max_size(settings.pool_size)
            .pre_recycle(Hook::async_fn(|connection, metrics| {
                let idle = metrics.last_used();
                async move { if idle < FRESH { Ok(()) } else { ping(connection).await } }.boxed()
            }))
            .build()
            .map_err(|error| StoreError::Corrupt(format!("the database pool: {error}")))?;
        Ok(Self { pool })
    }

    /// A connection, within 2 s. What is done on it has no bound on our side: see [`Database::within`],
    /// [`Database::read`] and [`Database::transaction`].
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn connection(&self) -> Result<Connection, StoreError> {
        match timeout(CHECKOUT, self.pool.get()).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(StoreError::Unavailable(reason(&error))),
            Err(_) => Err(StoreError::Unavailable("no connection came free in time".into())),
        }
    }

    /// Records how much of the pool is in use, how many wait for it, and whether the database answers.
    pub async fn measure(&self) {
        let status = self.pool.status();
        let idle = status.available.min(status.size);
        let count = |number: usize| u32::try_from(number).map_or(f64::MAX, f64::from);
        gauge!("database_connections", "state" => "in_use").set(count(status.size - idle));
        gauge!("database_connections", "state" => "idle").set(count(idle));
        gauge!("database_connections_max").set(count(status.max_size));
        gauge!("database_connection_waiters").set(count(status.waiting));
        gauge!("database_available").set(if self.check().await.is_ok() { 1 } else { 0 });
    }

    /// Whether the database answers, for readiness.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] within 4 s.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.read(async |connection| {
            let query = diesel::select(diesel::dsl::sql::<Integer>("1"));
            Self::within(CHECKOUT, async { Ok(query.get_result::<i32>(connection).await?) }).await
        })
        .await
        .map(|_one| ())
    }

    /// Gives up after `deadline`, for servers that stopped answering without closing the connection.
    ///
    /// # Errors
    /// Those of the future, and [`StoreError::Unavailable`] when time is up.
    pub async fn within<R, E: From<StoreError>>(
        deadline: Duration,
        future: impl Future<Output = Result<R, E>>,
    ) -> Result<R, E> {
        timeout(deadline, future).await.unwrap_or_else(|_| Err(out_of_time(deadline).into()))
    }

    /// Runs reads (or one statement that is its own transaction) on a connection, within 7 s.
    ///
    /// # Errors
    /// Those of the work, and [`StoreError::Unavailable`] when time is up.
    pub async fn read<R, E, F>(&self, work: F) -> Result<R, E>
    where
        F: for<'r> Work<'r, Result<R, E>>,
        E: From<StoreError>,
    {
        Self::within(READ, async {
            let mut lease = Lease::new(self.connection().await?);
            let outcome = work(lease.connection()?).await;
            lease.give_back();
            outcome
        })
        .await
    }

    /// Runs the work in one transaction, within 10 s in all; commits when it succeeds. When time is up or the future
    /// is dropped, the connection is closed, and PostgreSQL rolls back what had not been committed.
    ///
    /// # Errors
    /// Those of the work. An error that [is unavailable](StoreError::is_unavailable) leaves open whether it committed.
    pub async fn transaction<R, E, F>(&self, work: F) -> Result<R, E>
    where
        F: for<'r> Work<'r, Result<R, E>>,
        E: From<StoreError>,
    {
        self.transaction_begun("BEGIN", work).await
    }

    /// The same, without waiting for the disk at the end: should the server crash within a second, the transaction may
    /// be undone though it was committed. For work that is done again then, and may be.
    ///
    /// # Errors
    /// As [`Database::transaction`].
    pub async fn transaction_lost_in_a_crash<R, E, F>(&self, work: F) -> Result<R, E>
    where
        F: for<'r> Work<'r, Result<R, E>>,
        E: From<StoreError>,
    {
        self.transaction_begun("BEGIN; SET LOCAL synchronous_commit = off", work).await
    }

    async fn transaction_begun<R, E, F>(&self, sql: &str, work: F) -> Result<R, E>
    where
        F: for<'r> Work<'r, Result<R, E>>,
        E: From<StoreError>,
    {
        Self::within(TRANSACTION, async {
            let mut lease = self.begin(sql).await?;
            let outcome = work(lease.connection()?).await;
            lease.finish(outcome).await.map_err(crate::lease::Undone::into_error)
        })
        .await
    }

    /// A connection with an open transaction. A connection that turns out to be broken at `BEGIN` (the server was
    /// restarted this instant) has done nothing yet, so another one is tried.
    pub(crate) async fn begin(&self, sql: &str) -> Result<Lease, StoreError> {
        let deadline = Instant::now() + CHECKOUT;
        loop {
            let mut lease = Lease::new(self.connection().await?);
            match timeout_at(deadline, lease.begin(sql)).await {
                Ok(Ok(())) => return Ok(lease),
                Ok(Err(error)) if !error.is_unavailable() || Instant::now() >= deadline => return Err(error),
                Ok(Err(error)) => tracing::debug!(%error, "a connection was broken when taken from the pool"),
                Err(_) => return Err(out_of_time(CHECKOUT)),
            }
        }
    }
}

/// Connects on that runtime, which then drives the connection. A caller who stops waiting gives the attempt up.
async fn connect_on(runtime: Handle, target: Arc<Target>) -> ConnectionResult<AsyncPgConnection> {
    let attempt = AbortOnDropHandle::new(runtime.spawn(async move { connect(&target).await }));
    attempt.await.unwrap_or_else(|error| Err(ConnectionError::BadConnection(error.to_string())))
}

async fn ping(connection: &mut AsyncPgConnection) -> Result<(), HookError> {
    let query = diesel::select(diesel::dsl::sql::<Integer>("1"));
    match timeout(PING, query.get_result::<i32>(connection)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(HookError::message("the connection was silent")),
    }
}

fn out_of_time(deadline: Duration) -> StoreError {
    StoreError::Unavailable(format!("no answer within {} s", deadline.as_secs()))
}

fn reason(error: &PoolError) -> String {
    match error {
        PoolError::Backend(ConnectError::ConnectionError(error)) => in_full(error),
        other => other.to_string(),
    }
}
