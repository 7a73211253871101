//! Migrates a database to the schema that this program expects.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::{BigInt, Bool, Text};
use diesel::{ConnectionError, QueryableByName};
use diesel_async::{AsyncMigrationHarness, AsyncPgConnection, RunQueryDsl};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};
use tokio::time::{Instant, sleep, timeout};

use crate::connect::{SessionLimits, Target, configure};
use crate::grants::{expect_rights, grant};
use crate::language::expect_english;

/// The time limit for a starting server, and for one that refuses the user: its roles may be created at this moment.
const SERVER_WAIT: Duration = Duration::from_secs(30);
const REFUSED_WAIT: Duration = Duration::from_secs(10);
/// The time limit for another instance's migrations; those of large tables are slow.
const TURN_WAIT: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(250);
/// The time limit of one check of the versions, and the interval between checks.
const ANSWER: Duration = Duration::from_secs(5);
const CHECK_AGAIN: Duration = Duration::from_secs(1);
/// "waybill" in ASCII: the advisory lock of migrations.
const LOCK: i64 = 0x77_61_79_62_69_6c_6c;

/// Runs each set of embedded migrations (the outbox's, then the service's). Instances that start at the same time take
/// turns; the later ones find nothing to do. Afterwards gives `rights` to the serving role of the settings, if there is one.
///
/// # Errors
/// When the server is unreachable for 30 s, when a migration fails, when two sets use the same version, or when the serving role
/// does not exist.
pub async fn migrate(
    settings: &settings::Database,
    sets: Vec<EmbeddedMigrations>,
    rights: &str,
) -> anyhow::Result<()> {
    let own = versions(&sets)?;
    let target = configure(&settings.url, SessionLimits::MIGRATING).context("the database URL")?;
    let mut connection = wait_for_server(&target).await?;
    lock(&mut connection).await.context("waiting for another instance's migration")?;
    refuse_another_history(&mut connection, &own).await?;
    drop_unfinished_indexes(&mut connection)
        .await
        .context("dropping the indexes of an interrupted migration")?;
    let mut connection = tokio::task::spawn_blocking(move || run(connection, sets)).await??;
    if let Some(role) = &settings.serving_role {
        grant(&mut connection, role, rights).await.with_context(|| format!("giving {role} its rights"))?;
    }
    Ok(())
}

/// The session holds the lock, so it ends with the connection. Polls instead of waiting, because a concurrent index build
/// waits for every running statement, and so would wait for a statement that waits for the migration.
async fn lock(connection: &mut AsyncPgConnection) -> anyhow::Result<()> {
    let deadline = Instant::now() + TURN_WAIT;
    loop {
        let lock: Lock = diesel::sql_query("SELECT pg_try_advisory_lock($1) AS ours")
            .bind::<BigInt, _>(LOCK)
            .get_result(connection)
            .await?;
        if lock.ours {
            return Ok(());
        }
        if Instant::now() >= deadline {
            bail!("it is still running");
        }
        sleep(PAUSE).await;
    }
}

/// Fails when the database belongs to another program: that program's migrations with the same version would count as
/// run. A later release of this program has run all of its migrations, and unknown later ones.
async fn refuse_another_history(
    connection: &mut AsyncPgConnection,
    own: &BTreeSet<String>,
) -> anyhow::Result<()> {
    let begun: Begun =
        diesel::sql_query("SELECT to_regclass('public.__diesel_schema_migrations') IS NOT NULL AS begun")
            .get_result(connection)
            .await?;
    if !begun.begun {
        return Ok(());
    }
    let run = recorded(connection).await?;
    let is_complete = own.is_subset(&run);
    let is_later = |version: &String| own.last().is_none_or(|last| version > last);
    let foreign: Vec<&str> = run
        .difference(own)
        .filter(|version| !is_complete || !is_later(version))
        .map(String::as_str)
        .collect();
    ensure!(
        foreign.is_empty(),
        "this database is another service's: it contains migrations that this program does not know ({}); check the database URL",
        foreign.join(", ")
    );
    Ok(())
}

#[derive(QueryableByName)]
struct Begun {
    #[diesel(sql_type = Bool)]
    begun: bool,
}

/// An interrupted migration leaves an unusable index, whose name the repeated migration needs. An index that is rebuilt
/// by hand has another name.
async fn drop_unfinished_indexes(connection: &mut AsyncPgConnection) -> anyhow::Result<()> {
    let unfinished: Vec<UnfinishedIndex> = diesel::sql_query(
        "SELECT format('%I.%I', pg_namespace.nspname, pg_class.relname) AS name FROM pg_index \
         JOIN pg_class ON pg_class.oid = pg_index.indexrelid AND pg_class.relkind = 'i' \
         JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace AND pg_namespace.nspname = 'public' \
         WHERE NOT pg_index.indisvalid AND pg_class.relname !~ '_cc(new|old)[0-9]*$'",
    )
    .load(connection)
    .await?;
    for UnfinishedIndex { name } in unfinished {
        diesel::sql_query(format!("DROP INDEX CONCURRENTLY {name}")).execute(connection).await?;
        tracing::info!(%name, "dropped unfinished index of an interrupted migration");
    }
    Ok(())
}

#[derive(QueryableByName)]
struct Lock {
    #[diesel(sql_type = Bool)]
    ours: bool,
}

#[derive(QueryableByName)]
struct UnfinishedIndex {
    #[diesel(sql_type = Text)]
    name: String,
}

fn run(connection: AsyncPgConnection, sets: Vec<EmbeddedMigrations>) -> anyhow::Result<AsyncPgConnection> {
    let mut harness = AsyncMigrationHarness::new(connection);
    for set in sets {
        let versions =
            harness.run_pending_migrations(set).map_err(|error| anyhow!("a migration failed: {error}"))?;
        for version in versions {
            tracing::info!(%version, "migrated");
        }
    }
    Ok(harness.into_inner())
}

async fn wait_for_server(target: &Target) -> anyhow::Result<AsyncPgConnection> {
    let (began, mut refused_since, mut problems) = (Instant::now(), None, Problems::default());
    loop {
        let error = match target.connect().await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        if !is_refused(&error) {
            refused_since = None;
        } else if refused_since.get_or_insert_with(Instant::now).elapsed() >= REFUSED_WAIT {
            return Err(error).context("the database refuses the connection");
        }
        if began.elapsed() >= SERVER_WAIT {
            return Err(error).context("the database is unreachable; check that it is running");
        }
        problems.report(&error.into());
        sleep(PAUSE).await;
    }
}

/// Whether the server is there and refuses the URL's user, password or database.
fn is_refused(error: &ConnectionError) -> bool {
    matches!(error, ConnectionError::InvalidConnectionUrl(_))
}

/// Logs each problem once, until there is another one.
#[derive(Default)]
struct Problems {
    latest: String,
}

impl Problems {
    fn report(&mut self, error: &anyhow::Error) {
        let missing = format!("{error:#}");
        if missing != self.latest {
            tracing::warn!(missing, "database not ready");
            self.latest = missing;
        }
    }
}

/// The migrations that a program expects in the database. Another program runs them. Additional migrations belong to a
/// later version and are allowed.
pub struct Schema {
    wanted: BTreeSet<String>,
    target: Target,
}

impl Schema {
    /// # Errors
    /// When the database's URL is invalid, or two sets use the same version.
    pub fn new(settings: &settings::Database, sets: &[EmbeddedMigrations]) -> anyhow::Result<Self> {
        let target = configure(&settings.url, SessionLimits::SERVING).context("the database URL")?;
        Ok(Self { wanted: versions(sets)?, target })
    }

    /// Checks whether they have run, and whether this role may read their tables.
    ///
    /// # Errors
    /// Names the problem: missing migrations, a missing migrations table, missing rights, the language of error messages, or an
    /// unreachable server.
    pub async fn check(&self) -> anyhow::Result<()> {
        let run =
            timeout(ANSWER, run_versions(&self.target)).await.context("the database is unreachable")??;
        let missing: Vec<&str> = self.wanted.difference(&run).map(String::as_str).collect();
        ensure!(
            missing.is_empty(),
            "these migrations have not been run: {}; run the service's `migrate` command",
            missing.join(", ")
        );
        Ok(())
    }

    /// Polls until they have run. Logs the problem when it changes.
    ///
    /// # Errors
    /// When the server refuses the URL's user, password or database for this time. Waiting does not help then.
    pub async fn wait(&self, refused_max: Duration) -> anyhow::Result<()> {
        let (mut problems, mut refused_since) = (Problems::default(), None);
        while let Err(error) = self.check().await {
            problems.report(&error);
            if error.downcast_ref().is_some_and(is_refused) {
                if refused_since.get_or_insert_with(Instant::now).elapsed() >= refused_max {
                    return Err(error);
                }
            } else {
                refused_since = None;
            }
            sleep(CHECK_AGAIN).await;
        }
        Ok(())
    }
}

async fn run_versions(target: &Target) -> anyhow::Result<BTreeSet<String>> {
    let mut connection = target.connect().await?;
    expect_english(&mut connection).await?;
    let run = recorded(&mut connection).await;
    // Afterwards, so that the tables of these versions are there.
    expect_rights(&mut connection).await?;
    run
}

async fn recorded(connection: &mut AsyncPgConnection) -> anyhow::Result<BTreeSet<String>> {
    let rows: Vec<RunMigration> =
        diesel::sql_query("SELECT version FROM __diesel_schema_migrations").load(connection).await?;
    Ok(rows.into_iter().map(|row| row.version).collect())
}

#[derive(QueryableByName)]
struct RunMigration {
    #[diesel(sql_type = Text)]
    version: String,
}

/// All sets share one table with the version as its key, so a migration with a used version would not run.
fn versions(sets: &[EmbeddedMigrations]) -> anyhow::Result<BTreeSet<String>> {
    let mut seen = BTreeSet::new();
    for set in sets {
        let migrations: Vec<Box<dyn Migration<Pg>>> =
            set.migrations().map_err(|error| anyhow!("reading the migrations: {error}"))?;
        for migration in migrations {
            let version = migration.name().version().to_string();
            if seen.contains(&version) {
                bail!("two migrations have the version {version}; rename one of them");
            }
            seen.insert(version);
        }
    }
    Ok(seen)
}
