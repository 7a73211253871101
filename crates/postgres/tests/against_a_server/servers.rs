//! Databases for these tests: on the shared server, or on a private server that the test may kill.

use std::sync::Arc;

use local_stack::{Postgres, PostgresOptions, query};
use postgres::Database;
use settings::Secret;
use test_kit::Directory;

pub(crate) fn settings(url: &str, pool_size: usize) -> settings::Database {
    settings::Database { url: Secret::new(url), pool_size, serving_role: None }
}

/// A new database on the shared server, with the given tables.
pub(crate) async fn database(tables: &str, pool_size: usize) -> (Database, String) {
    let url = test_kit::database_url().await;
    query(&url, tables).await.unwrap();
    (Database::new(&settings(&url, pool_size)).unwrap(), url)
}

/// A test's private server.
pub(crate) struct OwnServer {
    pub(crate) server: Postgres,
    pub(crate) url: String,
    /// Dropped after the server, which writes into it.
    _directory: Directory,
}

impl OwnServer {
    pub(crate) async fn start() -> Self {
        Self::speaking(None).await
    }

    pub(crate) async fn speaking(language: Option<&'static str>) -> Self {
        let directory = Directory::new("postgres");
        let options = PostgresOptions {
            directory: directory.path().to_owned(),
            port: local_stack::free_port().unwrap(),
            password: "letmein".into(),
            survives_power_cuts: false,
            language,
        };
        let server = Postgres::start(&options, Arc::new(|_| {})).await.unwrap();
        let url = server.create_database("tested", "secret").await.unwrap();
        Self { server, url, _directory: directory }
    }

    pub(crate) fn database(&self, pool_size: usize) -> Database {
        Database::new(&settings(&self.url, pool_size)).unwrap()
    }
}
