//! `migrate`, which needs only the database, and the tables that a service expects.

use diesel_migrations::EmbeddedMigrations;
use postgres::Schema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Database, SettingErrors, Telemetry};

use crate::sections;

/// The tables of a service, without those of the outbox.
pub struct Tables {
    pub migrations: EmbeddedMigrations,
    /// The SQL that gives `:"service"`, the role that serves, its rights: [`postgres::ROWS`], or the service's own.
    pub rights: &'static str,
}

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
    /// Creates or updates a service's tables, including those of the outbox.
    pub(crate) async fn migrate(&self, tables: Tables) -> anyhow::Result<()> {
        postgres::migrate(&self.database, vec![outbox::MIGRATIONS, tables.migrations], tables.rights).await
    }
}

pub(crate) fn schema(database: &Database, migrations: EmbeddedMigrations) -> anyhow::Result<Schema> {
    Schema::new(database, &[outbox::MIGRATIONS, migrations])
}
