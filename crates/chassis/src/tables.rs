//! `migrate` and `schema`. They need only the database.

use std::time::Duration;

use diesel_migrations::EmbeddedMigrations;
use postgres::Schema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Database, SettingErrors, Telemetry};

use crate::sections;

/// The settings of these commands. They need no listeners, broker or tokens.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct TableSettings {
    database: Database,
    #[serde(default)]
    pub(crate) telemetry: Telemetry,
}

impl settings::Settings for TableSettings {
    fn check(&self, errors: &mut SettingErrors) {
        sections::check(&self.database, &self.telemetry, errors);
    }
}

impl TableSettings {
    pub(crate) async fn migrate(&self, migrations: EmbeddedMigrations) -> anyhow::Result<()> {
        migrate(&self.database, migrations).await
    }

    pub(crate) async fn await_schema(
        &self,
        migrations: EmbeddedMigrations,
        patience: Duration,
    ) -> anyhow::Result<()> {
        schema(&self.database, migrations)?.wait_at_most(patience).await
    }
}

/// Creates or updates a service's tables, including those of the outbox.
///
/// # Errors
/// When the database is unreachable or rejects a migration.
pub async fn migrate(database: &Database, migrations: EmbeddedMigrations) -> anyhow::Result<()> {
    postgres::migrate(database, vec![outbox::MIGRATIONS, migrations]).await
}

pub(crate) fn schema(database: &Database, migrations: EmbeddedMigrations) -> anyhow::Result<Schema> {
    Schema::new(database, &[outbox::MIGRATIONS, migrations])
}
