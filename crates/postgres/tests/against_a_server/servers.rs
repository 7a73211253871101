//! Databases for these tests: on the shared server, or on a server of the test's own that it may kill.

use std::path::PathBuf;
use std::sync::Arc;

use local_stack::{Postgres, PostgresOptions, Servers, query};
use postgres::Database;
use settings::Secret;

pub(crate) fn settings(url: &str, pool_size: usize) -> settings::Database {
    settings::Database { url: Secret::new(url), pool_size }
}

/// A fresh database on the shared server, with the given tables.
pub(crate) async fn database(tables: &str, pool_size: usize) -> (Database, String) {
    let url = Servers::for_tests().await.unwrap().create_database().await.unwrap();
    query(&url, tables).await.unwrap();
    (Database::new(&settings(&url, pool_size)).unwrap(), url)
}

/// A server of one test's own.
pub(crate) struct OwnServer {
    pub(crate) server: Postgres,
    pub(crate) url: String,
    directory: PathBuf,
}

impl OwnServer {
    pub(crate) async fn start(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("waybill-postgres-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let options = PostgresOptions {
            directory: directory.clone(),
            port: local_stack::free_port().unwrap(),
            password: "letmein".into(),
            survives_power_cuts: false,
        };
        let server = Postgres::start(&options, Arc::new(|_| {})).await.unwrap();
        let url = server.create_database("tested", "secret").await.unwrap();
        Self { server, url, directory }
    }

    pub(crate) fn database(&self, pool_size: usize) -> Database {
        Database::new(&settings(&self.url, pool_size)).unwrap()
    }

    pub(crate) fn end(self) {
        drop(self.server);
        let _left = std::fs::remove_dir_all(&self.directory);
    }
}
