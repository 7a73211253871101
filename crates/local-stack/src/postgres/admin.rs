//! Speaking to a PostgreSQL as its owner.

use std::path::PathBuf;

use anyhow::{Context, ensure};

use crate::psql;

/// The role that owns the server. The services' roles own nothing but their database.
pub(super) const ADMIN: &str = "waybill_admin";

/// How to speak to a server as its owner, from any process.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Admin {
    pub(super) psql: PathBuf,
    pub(super) port: u16,
    pub(super) password: String,
}

impl Admin {
    pub(super) fn url(&self, role: &str, password: &str, database: &str) -> String {
        format!("postgres://{role}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// As [`super::Postgres::create_database`]. Role and database share the name.
    pub(crate) async fn create_database(&self, name: &str, password: &str) -> anyhow::Result<String> {
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        ensure!(
            plain(name) && plain(password),
            "names and passwords of the local stack are letters and digits"
        );
        let sql = format!(
            "SELECT 'CREATE ROLE {name} LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}') \\gexec\n\
             ALTER ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '{password}';\n\
             SELECT 'CREATE DATABASE {name} OWNER {name}'\n\
             WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{name}') \\gexec\n\
             REVOKE CONNECT, TEMPORARY ON DATABASE {name} FROM PUBLIC;\n"
        );
        self.run(&sql).await.with_context(|| format!("creating the database {name}"))?;
        Ok(self.url(name, password, name))
    }

    /// The databases every server comes with are nobody's business either.
    pub(super) async fn close_to_others(&self) -> anyhow::Result<()> {
        self.run("REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;").await.map(drop)
    }

    pub(super) async fn answers(&self) -> bool {
        self.run("SELECT 1;").await.is_ok()
    }

    async fn run(&self, sql: &str) -> anyhow::Result<String> {
        psql::run(&self.psql, &self.url(ADMIN, &self.password, "postgres"), sql).await
    }
}
