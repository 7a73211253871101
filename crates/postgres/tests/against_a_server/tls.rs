//! A server with TLS, in each of libpq's modes.

use std::path::PathBuf;

use diesel_async::RunQueryDsl;
use local_stack::{Authority, query};
use postgres::{Database, Schema, StoreError};
use test_kit::Directory;

use crate::servers::{OwnServer, settings};

/// The name in the server's certificate. The server is also reachable as `localhost`.
const NAME: &str = "127.0.0.1";
const TRIES: usize = 20;

struct TlsServer {
    own: OwnServer,
    authority: PathBuf,
    stranger: PathBuf,
    _certificates: Directory,
}

impl TlsServer {
    async fn start() -> Self {
        let own = OwnServer::start().await;
        let authority = Authority::new("ours").unwrap();
        let certified = authority.certify(&[NAME]).unwrap();
        let admin = own.server.admin_url();
        // The server writes the files, because only its account may own its key.
        for (name, text) in [("server.crt", &certified.certificate), ("server.key", &certified.key)] {
            let lines = format!("SELECT unnest(string_to_array('{}', E'\\n'))", text.trim_end());
            let copy = format!("COPY ({lines}) TO PROGRAM 'umask 077; cat > {name}'");
            query(&admin, &copy).await.unwrap();
        }
        query(&admin, "ALTER SYSTEM SET ssl = on").await.unwrap();
        own.server.restart().await.unwrap();
        let certificates = Directory::new("certificates");
        let file = |name: &str, authority: &Authority| {
            let path = certificates.path().join(format!("{name}.crt"));
            std::fs::write(&path, authority.pem()).unwrap();
            path
        };
        let stranger = file("stranger", &Authority::new("stranger").unwrap());
        let authority = file("authority", &authority);
        Self { own, authority, stranger, _certificates: certificates }
    }

    /// The cipher of the connection; empty without TLS. A wait of the pool that ran out says nothing about the mode.
    async fn cipher(&self, host: &str, options: &str) -> Result<String, String> {
        let mut outcome = self.try_cipher(host, options).await;
        for _ in 0..TRIES {
            if !outcome.as_ref().is_err_and(|error| error.contains("timed out while connecting")) {
                break;
            }
            outcome = self.try_cipher(host, options).await;
        }
        outcome
    }

    async fn try_cipher(&self, host: &str, options: &str) -> Result<String, String> {
        let url = self.own.url.replace(NAME, host);
        let options = options
            .replace("OURS", self.authority.to_str().unwrap())
            .replace("STRANGER", self.stranger.to_str().unwrap());
        let database = Database::new(&settings(&format!("{url}?{options}"), 2)).map_err(|e| e.to_string())?;
        let cipher = database
            .read(async |connection| {
                let sql = "coalesce((SELECT cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()), '')";
                let select = diesel::select(diesel::dsl::sql::<diesel::sql_types::Text>(sql));
                Ok::<String, StoreError>(select.get_result(connection).await?)
            })
            .await;
        cipher.map_err(|error| error.to_string())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_sslmode_encrypts_and_verifies_as_documented() {
    let server = TlsServer::start().await;
    assert_eq!(server.cipher(NAME, "sslmode=disable").await.unwrap(), "");
    for (host, options) in [
        (NAME, ""),
        (NAME, "sslmode=prefer"),
        ("localhost", "sslmode=require"),
        (NAME, "sslmode=require&sslrootcert=OURS"),
        ("localhost", "sslmode=verify-ca&sslrootcert=OURS"),
        (NAME, "sslmode=verify-full&sslrootcert=OURS"),
    ] {
        let cipher = server.cipher(host, options).await.unwrap();
        assert!(cipher.starts_with("TLS_"), "{host} {options}: {cipher:?}");
    }
    let other_name = "certificate not valid for name \"localhost\"";
    for (host, options, error) in [
        (NAME, "sslmode=require&sslrootcert=STRANGER", "UnknownIssuer"),
        (NAME, "sslmode=verify-ca&sslrootcert=STRANGER", "UnknownIssuer"),
        (NAME, "sslmode=verify-full&sslrootcert=STRANGER", "UnknownIssuer"),
        (NAME, "sslmode=verify-full", "UnknownIssuer"),
        ("localhost", "sslmode=verify-full&sslrootcert=OURS", other_name),
        (
            NAME,
            "sslmode=verify-full&sslrootcert=/nowhere",
            "sslrootcert names /nowhere, which cannot be read",
        ),
    ] {
        let reported = server.cipher(host, options).await.unwrap_err();
        assert!(reported.contains(error), "{host} {options}: {reported}");
    }

    // Migrations use the same TLS settings.
    let stranger = format!("sslmode=verify-full&sslrootcert={}", server.stranger.display());
    let stranger = settings(&format!("{}?{stranger}", server.own.url), 2);
    let reported = Schema::new(&stranger, &[]).unwrap().check().await.unwrap_err();
    assert!(format!("{reported:#}").contains("UnknownIssuer"), "{reported:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tls_is_used_where_that_is_allowed() {
    let server = OwnServer::start().await;
    for (options, is_allowed) in
        [("", true), ("sslmode=disable", true), ("sslmode=require", false), ("sslmode=verify-full", false)]
    {
        let database = Database::new(&settings(&format!("{}?{options}", server.url), 2)).unwrap();
        let answer = database.check().await.map_err(|error| error.to_string());
        assert_eq!(answer.is_ok(), is_allowed, "{options}: {answer:?}");
        if let Err(reported) = answer {
            assert!(reported.contains("server does not support TLS"), "{reported}");
        }
    }
}
