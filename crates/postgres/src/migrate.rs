//! Bringing a database to the schema that this program expects.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncMigrationHarness, AsyncPgConnection, RunQueryDsl};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};
use tokio::time::{Instant, sleep};
use tokio_postgres::Config;

use crate::connect::{SessionLimits, configure, connect};

/// How long a server that is still starting is waited for.
const SERVER_WAIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(250);
/// "waybill" read as a number: the advisory lock of whoever migrates.
const LOCK: i64 = 0x77_61_79_62_69_6c_6c;

/// Runs each set of embedded migrations in turn (the outbox's, then the service's). Instances that start at the same
/// time take turns; the later ones find nothing left to do.
///
/// # Errors
/// When the server stays away for 30 s, when a migration fails, or when two sets use one version.
pub async fn migrate(settings: &settings::Database, sets: Vec<EmbeddedMigrations>) -> anyhow::Result<()> {
    refuse_shared_versions(&sets)?;
    let config = configure(settings.url.expose(), SessionLimits::MIGRATING).context("the database URL")?;
    let mut connection = wait_for_server(&config).await?;
    // Held by the session, so it goes with the connection however this ends.
    diesel::sql_query("SELECT pg_advisory_lock($1)")
        .bind::<BigInt, _>(LOCK)
        .execute(&mut connection)
        .await
        .context("waiting for another instance's migration")?;
    tokio::task::spawn_blocking(move || run(connection, sets)).await?
}

fn run(connection: AsyncPgConnection, sets: Vec<EmbeddedMigrations>) -> anyhow::Result<()> {
    let mut harness = AsyncMigrationHarness::new(connection);
    for set in sets {
        let versions =
            harness.run_pending_migrations(set).map_err(|error| anyhow!("a migration failed: {error}"))?;
        for version in versions {
            tracing::info!(%version, "migrated");
        }
    }
    Ok(())
}

async fn wait_for_server(config: &Config) -> anyhow::Result<AsyncPgConnection> {
    let deadline = Instant::now() + SERVER_WAIT;
    loop {
        match tokio::time::timeout(Duration::from_secs(5), connect(config)).await {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) if Instant::now() >= deadline => {
                return Err(error).context("the database is away");
            }
            Err(_) if Instant::now() >= deadline => bail!("the database does not answer"),
            Ok(Err(_)) | Err(_) => sleep(PAUSE).await,
        }
    }
}

/// All sets are recorded in one table by version alone: a version used twice would be run once.
fn refuse_shared_versions(sets: &[EmbeddedMigrations]) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    for set in sets {
        let migrations: Vec<Box<dyn Migration<Pg>>> =
            set.migrations().map_err(|error| anyhow!("reading the migrations: {error}"))?;
        for migration in migrations {
            let version = migration.name().version().as_owned();
            if !seen.insert(version.to_string()) {
                bail!("two migrations have the version {version}");
            }
        }
    }
    Ok(())
}
