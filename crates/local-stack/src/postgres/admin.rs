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
    pub(crate) fn url(&self, role: &str, password: &str, database: &str) -> String {
        format!("postgres://{role}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// As [`super::Postgres::create_database`]. Role and database share the name.
    pub(crate) async fn create_database(&self, name: &str, password: &str) -> anyhow::Result<String> {
        plain(&[name, password])?;
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

    /// Makes a database as a copy of the template, and answers whether there is such a template.
    pub(crate) async fn copy_database(&self, template: &str, name: &str, role: &str) -> anyhow::Result<bool> {
        plain(&[template, name, role])?;
        let sql = format!(
            "SELECT 'CREATE DATABASE {name} TEMPLATE {template} OWNER {role}'\n\
             WHERE EXISTS (SELECT FROM pg_database WHERE datname = '{template}') \\gexec\n\
             SELECT 'REVOKE CONNECT, TEMPORARY ON DATABASE {name} FROM PUBLIC'\n\
             WHERE EXISTS (SELECT FROM pg_database WHERE datname = '{name}') \\gexec\n\
             SELECT count(*) FROM pg_database WHERE datname = '{name}';\n"
        );
        let copies = self.run(&sql).await.with_context(|| format!("copying {template}"))?;
        Ok(copies.trim() == "1")
    }

    /// Turns a database into a template that nobody can connect to, under another name.
    pub(crate) async fn make_template(&self, database: &str, template: &str) -> anyhow::Result<()> {
        plain(&[database, template])?;
        let sql = format!(
            "ALTER DATABASE {database} ALLOW_CONNECTIONS false;\n\
             ALTER DATABASE {database} RENAME TO {template};\n"
        );
        self.run(&sql).await.map(drop)
    }

    pub(crate) async fn databases(&self) -> anyhow::Result<Vec<String>> {
        let names = self.run("SELECT datname FROM pg_database;").await.context("listing the databases")?;
        Ok(names.lines().map(str::to_owned).collect())
    }

    pub(crate) async fn has_database(&self, name: &str) -> anyhow::Result<bool> {
        Ok(self.databases().await?.iter().any(|database| database == name))
    }

    /// Drops databases that may be in use, and those that are gone already.
    pub(crate) async fn drop_databases(&self, names: &[String]) -> anyhow::Result<()> {
        plain(names)?;
        if names.is_empty() {
            return Ok(());
        }
        let drop = |name: &String| format!("DROP DATABASE IF EXISTS {name} WITH (FORCE);\n");
        let sql: String = names.iter().map(drop).collect();
        self.run(&sql).await.map(std::mem::drop).context("dropping databases")
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

/// Names and passwords go into SQL as they are.
fn plain(texts: &[impl AsRef<str>]) -> anyhow::Result<()> {
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    ensure!(
        texts.iter().all(|text| is_plain(text.as_ref())),
        "names and passwords of the local stack are letters and digits"
    );
    Ok(())
}
