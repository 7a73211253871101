//! Administration of a PostgreSQL as its owner.

use anyhow::{Context, ensure};

use crate::sql::Session;

/// The role that owns the server. The services' roles own only their databases.
pub(super) const ADMIN: &str = "waybill_admin";

/// Access to a server as its owner, from any process.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Admin {
    pub(super) port: u16,
    pub(super) password: String,
}

impl Admin {
    pub(crate) fn url(&self, role: &str, password: &str, database: &str) -> String {
        format!("postgres://{role}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// As [`super::Postgres::create_database`]. The role and the database have the same name.
    pub(crate) async fn create_database(&self, name: &str, password: &str) -> anyhow::Result<String> {
        require_alphanumeric(&[name, password])?;
        let creating = async |session: &Session| {
            if !exists(session, &format!("pg_roles WHERE rolname = '{name}'")).await? {
                session.query(&format!("CREATE ROLE {name}")).await?;
            }
            let role = format!("{name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '{password}'");
            session.query(&format!("ALTER ROLE {role}")).await?;
            // The services recognise some errors by their English text.
            session.query(&format!("ALTER ROLE {name} SET lc_messages TO 'C'")).await?;
            if !exists(session, &format!("pg_database WHERE datname = '{name}'")).await? {
                session.query(&format!("CREATE DATABASE {name} OWNER {name}")).await?;
            }
            revoke_public_access(session, name).await
        };
        self.within_session(creating).await.with_context(|| format!("creating the database {name}"))?;
        Ok(self.url(name, password, name))
    }

    /// Creates a database as a copy of the template. Returns whether the template exists.
    pub(crate) async fn copy_database(&self, template: &str, name: &str, role: &str) -> anyhow::Result<bool> {
        require_alphanumeric(&[template, name, role])?;
        let copying = async |session: &Session| {
            let is_template_there =
                exists(session, &format!("pg_database WHERE datname = '{template}'")).await?;
            if is_template_there {
                session.query(&format!("CREATE DATABASE {name} TEMPLATE {template} OWNER {role}")).await?;
                revoke_public_access(session, name).await?;
            }
            Ok(is_template_there)
        };
        self.within_session(copying).await.with_context(|| format!("copying {template}"))
    }

    /// Renames a database and turns it into a template without connections.
    pub(crate) async fn make_template(&self, database: &str, template: &str) -> anyhow::Result<()> {
        require_alphanumeric(&[database, template])?;
        self.within_session(async |session| {
            session.query(&format!("ALTER DATABASE {database} ALLOW_CONNECTIONS false")).await?;
            session.query(&format!("ALTER DATABASE {database} RENAME TO {template}")).await.map(drop)
        })
        .await
    }

    pub(crate) async fn databases(&self) -> anyhow::Result<Vec<String>> {
        let names = self.query("SELECT datname FROM pg_database").await.context("listing the databases")?;
        Ok(names.lines().map(str::to_owned).collect())
    }

    pub(crate) async fn has_database(&self, name: &str) -> anyhow::Result<bool> {
        Ok(self.databases().await?.iter().any(|database| database == name))
    }

    /// Drops databases, even those in use. Ignores databases that do not exist.
    pub(crate) async fn drop_databases(&self, names: &[String]) -> anyhow::Result<()> {
        require_alphanumeric(names)?;
        if names.is_empty() {
            return Ok(());
        }
        self.within_session(async |session| {
            for name in names {
                session.query(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
            }
            Ok(())
        })
        .await
        .context("dropping databases")
    }

    /// Closes the databases that every server has to other roles.
    pub(super) async fn revoke_public_access(&self) -> anyhow::Result<()> {
        self.query("REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC").await.map(drop)
    }

    pub(super) async fn answers(&self) -> bool {
        self.query("SELECT 1").await.is_ok()
    }

    async fn query(&self, sql: &str) -> anyhow::Result<String> {
        self.within_session(async |session| session.query(sql).await).await
    }

    async fn within_session<T>(
        &self,
        work: impl AsyncFnOnce(&Session) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let session = Session::open(&self.url(ADMIN, &self.password, "postgres")).await?;
        let done = Box::pin(work(&session)).await;
        session.close().await;
        done
    }
}

async fn exists(session: &Session, what: &str) -> anyhow::Result<bool> {
    Ok(!session.query(&format!("SELECT 1 FROM {what}")).await?.is_empty())
}

async fn revoke_public_access(session: &Session, database: &str) -> anyhow::Result<()> {
    session.query(&format!("REVOKE CONNECT, TEMPORARY ON DATABASE {database} FROM PUBLIC")).await.map(drop)
}

/// Names and passwords are inserted into SQL without quoting.
fn require_alphanumeric(texts: &[impl AsRef<str>]) -> anyhow::Result<()> {
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    ensure!(
        texts.iter().all(|text| is_plain(text.as_ref())),
        "names and passwords of the local stack must consist of letters and digits"
    );
    Ok(())
}
