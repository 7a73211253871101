//! The connection pool. Every call has a time limit, whatever the state of the server.

use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::QueueMode;
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::AsyncPgConnection;
use diesel_async::pooled_connection::deadpool::{Hook, HookError, Object, Pool, PoolError};
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, PoolError as ConnectError, RecyclingMethod,
};
use futures_util::FutureExt;
use metrics::gauge;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use crate::after_commit::collecting;
use crate::connect::{SessionLimits, Target, configure, with_causes};
use crate::demotion::Demotion;
use crate::lease::{Lease, Undone};
use crate::{StoreError, Work};

/// A pooled connection. If it is dropped during a transaction, it is closed and not reused.
pub(crate) type Connection = Object<AsyncPgConnection>;

/// The pool of a service's database. Clones share it.
#[derive(Clone)]
pub struct Database {
    pool: Pool<AsyncPgConnection>,
    demotion: Demotion,
}

/// The time limit for getting a connection from the pool, including opening a new one.
const CHECKOUT: Duration = Duration::from_secs(2);
/// The time limit of a transaction, including getting its connection.
const TRANSACTION: Duration = Duration::from_secs(10);
/// The time limit of a read, including getting its connection.
const READ: Duration = Duration::from_secs(7);
/// A connection that was idle for longer is checked before use, because it may be half open.
const FRESH: Duration = Duration::from_secs(10);
/// The time limit of that check.
const PING: Duration = Duration::from_secs(1);
/// Older connections are replaced: the backend's caches only grow, and a host name may lead to another server by now.
const AGE_MAX: Duration = Duration::from_secs(30 * 60);

impl Database {
    /// Opens no connection yet, so the server may start later. All connections belong to the current tokio runtime,
    /// also those that another one requests, which may end earlier.
    ///
    /// # Errors
    /// When the URL is invalid.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(settings: &settings::Database) -> Result<Self, StoreError> {
        let target = configure(&settings.url, SessionLimits::SERVING)
            .map_err(|error| StoreError::Corrupt(format!("the database URL: {error}")))?;
        let (target, runtime) = (Arc::new(target), Handle::current());
        let mut manager = ManagerConfig::default();
        // Closed connections are detected without a query. A query at each checkout would cost a round trip.
        manager.recycling_method = RecyclingMethod::Fast;
        let demotion = Demotion::none_yet();
        let watching = demotion.clone();
        manager.custom_setup = Box::new(move |_| {
            let (connecting, watching) = (connect_on(runtime.clone(), target.clone()), watching.clone());
            async move {
                let mut connection = connecting.await?;
                watching.watch(&mut connection);
                Ok(connection)
            }
            .boxed()
        });
        let manager = AsyncDieselConnectionManager::new_with_config("", manager);
        let pool = Pool::builder(manager)
            .max_size(settings.pool_size)
            // The connection that was used last: the caches of its backend are warm.
            .queue_mode(QueueMode::Lifo)
            .pre_recycle(Hook::async_fn({
                let demotion = demotion.clone();
                move |connection, metrics| {
                    let demotion = demotion.clone();
                    let is_outdated = metrics.age() > AGE_MAX || demotion.concerns(metrics.created);
                    let idle = metrics.last_used();
                    async move {
                        if is_outdated {
                            return Err(HookError::message("outdated"));
                        }
                        if idle < FRESH { Ok(()) } else { ping(&demotion, connection).await }
                    }
                    .boxed()
                }
            }))
            .build()
            .map_err(|error| StoreError::Corrupt(format!("the database pool: {error}")))?;
        Ok(Self { pool, demotion })
    }

    /// A connection, within 2 s. Work on it has no time limit; use [`Database::within`], [`Database::read`] or
    /// [`Database::transaction`].
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn connection(&self) -> Result<Connection, StoreError> {
        match timeout(CHECKOUT, self.pool.get()).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(StoreError::Unavailable(reason(&error))),
            Err(_) => Err(StoreError::Unavailable("timed out waiting for a free connection".into())),
        }
    }

    /// Records how many connections are in use, how many callers wait for one, and whether the database accepts
    /// writes.
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

    /// Whether the database is reachable and accepts writes, for readiness.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] within 4 s.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.read(async |connection| Self::within(CHECKOUT, self.demotion.expect_writable(connection)).await)
            .await
    }

    /// Fails after `deadline`, because a server may stop answering without closing the connection.
    ///
    /// # Errors
    /// Those of the future, and [`StoreError::Unavailable`] at the deadline.
    pub async fn within<R, E: From<StoreError>>(
        deadline: Duration,
        future: impl Future<Output = Result<R, E>>,
    ) -> Result<R, E> {
        timeout(deadline, future).await.unwrap_or_else(|_| Err(timed_out(deadline).into()))
    }

    /// Runs reads (or one statement, which is its own transaction) on a connection, within 7 s.
    ///
    /// # Errors
    /// Those of the work, and [`StoreError::Unavailable`] at the deadline.
    pub async fn read<R, E, F>(&self, work: F) -> Result<R, E>
    where
        F: for<'r> Work<'r, Result<R, E>>,
        E: From<StoreError>,
    {
        Self::within(READ, async {
            let mut lease = self.lease().await?;
            let outcome = work(lease.connection()?).await;
            lease.return_to_pool();
            outcome
        })
        .await
    }

    /// Runs the work in one transaction, within 10 s, and commits if it succeeds. At the deadline, or when the future is
    /// dropped, the connection is closed and PostgreSQL rolls the transaction back.
    ///
    /// # Errors
    /// Those of the work. After an [unavailable](StoreError::is_unavailable) error, the commit may have happened.
    pub async fn transaction<R, E, F>(&self, work: F) -> Result<R, E>
    where
        F: for<'r> Work<'r, Result<R, E>>,
        E: From<StoreError>,
    {
        self.transaction_begun("BEGIN", work).await
    }

    /// As [`Database::transaction`], without waiting for the disk: a crash of the server within a second may undo the
    /// commit. For work that is repeated after a crash.
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
            let (outcome, after_commit) = collecting(work(lease.connection()?)).await;
            let outcome = lease.finish(outcome).await.map_err(Undone::into_error)?;
            after_commit.run();
            Ok(outcome)
        })
        .await
    }

    /// A connection without a transaction.
    pub(crate) async fn lease(&self) -> Result<Lease, StoreError> {
        Ok(Lease::new(self.connection().await?))
    }

    /// A connection with an open transaction. If `BEGIN` fails because the connection is broken, nothing has happened
    /// yet, so another connection is used.
    pub(crate) async fn begin(&self, sql: &str) -> Result<Lease, StoreError> {
        let deadline = Instant::now() + CHECKOUT;
        loop {
            let mut lease = self.lease().await?;
            match timeout_at(deadline, lease.begin(sql)).await {
                Ok(Ok(())) => return Ok(lease),
                Ok(Err(error)) if !error.is_unavailable() || Instant::now() >= deadline => return Err(error),
                Ok(Err(error)) => tracing::debug!(%error, "pooled connection broken; taking another"),
                Err(_) => return Err(timed_out(CHECKOUT)),
            }
        }
    }
}

/// Connects on that runtime, which then drives the connection. Dropping the future cancels the attempt.
async fn connect_on(runtime: Handle, target: Arc<Target>) -> ConnectionResult<AsyncPgConnection> {
    let attempt = AbortOnDropHandle::new(runtime.spawn(async move { target.connect().await }));
    attempt.await.unwrap_or_else(|error| Err(ConnectionError::BadConnection(error.to_string())))
}

async fn ping(demotion: &Demotion, connection: &mut AsyncPgConnection) -> Result<(), HookError> {
    match timeout(PING, demotion.expect_writable(connection)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(HookError::message("no response from the server, or it rejects writes")),
    }
}

fn timed_out(deadline: Duration) -> StoreError {
    StoreError::Unavailable(format!("timed out after {} s", deadline.as_secs()))
}

fn reason(error: &PoolError) -> String {
    match error {
        PoolError::Backend(ConnectError::ConnectionError(error)) => with_causes(error),
        other => other.to_string(),
    }
}
