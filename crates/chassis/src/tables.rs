//! `migrate`, which needs only the database, and the tables that a service expects.

use diesel_migrations::EmbeddedMigrations;
use postgres::Schema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Database, SettingErrors, Telemetry};

use crate::sections;

/// The settings of `migrate`. It needs no listeners, broker or tokens.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct TableSettings {
    database: Database,
    #[serde(default)]
    telemetry: Telemetry,
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
