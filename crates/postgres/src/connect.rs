//! Connections to PostgreSQL. Every operation on them has a time limit, on the server and on the client.

use std::error::Error;
use std::time::Duration;

use diesel::{ConnectionError, ConnectionResult};
use diesel_async::AsyncPgConnection;
use settings::{DatabaseUrl, Encryption, Secret};
use tls::TlsError;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The limits that the server enforces in a session, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionLimits {
    pub(crate) statement_timeout_ms: u32,
    pub(crate) lock_timeout_ms: u32,
    pub(crate) idle_in_transaction_timeout_ms: u32,
}

impl SessionLimits {
    /// For the statements of the services.
    pub(crate) const SERVING: Self =
        Self { statement_timeout_ms: 5_000, lock_timeout_ms: 3_000, idle_in_transaction_timeout_ms: 10_000 };
    /// For migrations, which may rewrite a table. 0 means no limit; waiting for a lock is limited.
    pub(crate) const MIGRATING: Self =
        Self { statement_timeout_ms: 0, lock_timeout_ms: 60_000, idle_in_transaction_timeout_ms: 60_000 };
}

/// Statements are prepared once, with generic plans. By default the server would plan most of them at each call, because it
/// overestimates the length of lists, and planning costs more than running them. The server keeps a plan until it next
/// updates the tables' statistics, perhaps a minute later. A plan made for nearly empty tables would scan whole tables, or
/// a whole index per joined row. Every query of the services can use an index, row by row: so sequential scans and hash
/// joins are off, and index pages are expensive compared with index lookups. No query is large enough for JIT compilation.
const PLANNER: &str = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off \
    -c enable_mergejoin=off -c enable_material=off -c random_page_cost=1.1 -c cpu_index_tuple_cost=0.05 -c jit=off";

/// The ALPN protocol name of PostgreSQL.
const PROTOCOL: &[u8] = b"postgresql";

/// A server and the connection settings for it.
pub(crate) struct Target {
    config: Config,
    /// The TLS configuration; `None` connects without TLS.
    tls: Option<MakeRustlsConnect>,
}

/// Why a URL does not lead to a server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    /// Contains no secret.
    #[error("{0}")]
    Url(String),
    #[error("{}", with_causes(.0))]
    Options(#[from] tokio_postgres::Error),
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// The network risk of a database connection; `None` on this machine and with verified TLS. For a warning: the settings
/// check reports an invalid URL.
pub fn exposure(settings: &settings::Database) -> Option<&'static str> {
    let url = DatabaseUrl::parse(&settings.url).ok()?;
    let config: Config = url.rest.expose().parse().ok()?;
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => settings::is_this_machine(name),
        Host::Unix(_) => true,
    };
    if config.get_hosts().iter().all(is_here) {
        return None;
    }
    match url.encryption {
        Encryption::None | Encryption::IfOffered => Some("can be read and changed on the network"),
        Encryption::WithAnyone => Some("can go to an impostor"),
        Encryption::WithCertified(_) | Encryption::WithHost(_) => None,
    }
}

/// Parses the URL and adds the limits. An option in the URL takes precedence.
pub(crate) fn configure(url: &Secret, limits: SessionLimits) -> Result<Target, TargetError> {
    let DatabaseUrl { rest, encryption } = DatabaseUrl::parse(url).map_err(TargetError::Url)?;
    let mut config: Config = rest.expose().parse()?;
    let (mode, tls) = match encryption {
        Encryption::None => (SslMode::Disable, None),
        Encryption::IfOffered => (SslMode::Prefer, Some(tls::anyone()?)),
        Encryption::WithAnyone => (SslMode::Require, Some(tls::anyone()?)),
        Encryption::WithCertified(root) => {
            (SslMode::Require, Some(tls::certified_by_for_any_name(root.as_slice())?))
        }
        Encryption::WithHost(Some(root)) => (SslMode::Require, Some(tls::certified_by(root.as_slice())?)),
        Encryption::WithHost(None) => (SslMode::Require, Some(tls::certified_by_system()?)),
    };
    let tls = tls.map(|mut tls| {
        tls.alpn_protocols = vec![PROTOCOL.to_owned()];
        MakeRustlsConnect::new(tls)
    });
    config.ssl_mode(mode);
    limit(&mut config, limits);
    Ok(Target { config, tls })
}

fn limit(config: &mut Config, limits: SessionLimits) {
    let given = config.get_options().unwrap_or_default().to_owned();
    // Later options win, so the URL's options come last.
    config.options(format!(
        "-c statement_timeout={} -c lock_timeout={} -c idle_in_transaction_session_timeout={} -c timezone=UTC {PLANNER} {given}",
        limits.statement_timeout_ms, limits.lock_timeout_ms, limits.idle_in_transaction_timeout_ms,
    ));
    if config.get_application_name().is_none() {
        config.application_name(program_name());
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(2));
    }
    // Detects an unreachable peer within about ten seconds; the system's default is many minutes.
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(8));
    }
    config.keepalives(true);
    config.keepalives_idle(Duration::from_secs(5));
    config.keepalives_interval(Duration::from_secs(2));
    config.keepalives_retries(3);
}

/// # Errors
/// Describes the problem of the URL without showing the URL, because it contains a password.
pub fn check_url(settings: &settings::Database) -> Result<(), String> {
    match configure(&settings.url, SessionLimits::SERVING) {
        Ok(target) if !target.config.get_hosts().is_empty() => Ok(()),
        Ok(_) | Err(TargetError::Options(_)) => {
            Err("must be a URL such as postgres://user:password@host:5432/database".into())
        }
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) async fn connect(Target { config, tls }: &Target) -> ConnectionResult<AsyncPgConnection> {
    let failed = |error| ConnectionError::BadConnection(with_causes(&error));
    match tls {
        None => {
            let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
            AsyncPgConnection::try_from_client_and_connection(client, connection).await
        }
        Some(tls) => {
            let (client, connection) = config.connect(tls.clone()).await.map_err(failed)?;
            AsyncPgConnection::try_from_client_and_connection(client, connection).await
        }
    }
}

/// Adds the causes, because the driver's own text is only "db error" or "error connecting to server".
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// The name of this program in `pg_stat_activity`.
fn program_name() -> String {
    std::env::current_exe()
        .ok()
        .and_then(|path| path.file_stem().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "waybill".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_added_and_those_of_the_url_win() {
        let url = "postgres://u:p@127.0.0.1/db?connect_timeout=9&options=-c%20lock_timeout%3D7";
        let config = configure(&Secret::new(url), SessionLimits::SERVING).unwrap().config;
        let options = config.get_options().unwrap();
        assert!(options.starts_with("-c statement_timeout=5000 -c lock_timeout=3000"), "{options}");
        assert!(options.contains(" -c enable_seqscan=off "), "{options}");
        assert!(options.ends_with("-c lock_timeout=7"), "{options}");
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(9)));
    }

    #[test]
    fn only_remote_traffic_without_verified_tls_is_exposed() {
        for (url, is_exposed) in [
            ("postgres://u@127.0.0.1/d", false),
            ("postgres://u@[::1]/d?sslmode=disable", false),
            ("postgres://u@localhost/d", false),
            ("postgres://u@%2Frun%2Fpostgresql/d", false),
            ("postgres://u@10.0.0.1/d", true),
            ("postgres://u@db/d?sslmode=disable", true),
            ("postgres://u@localhost,db/d?sslmode=prefer", true),
            ("postgres://u@db/d?sslmode=require", true),
            ("postgres://u@db/d?sslmode=verify-full", false),
        ] {
            let settings = settings::Database { url: Secret::new(url), pool_size: 2 };
            assert_eq!(exposure(&settings).is_some(), is_exposed, "{url}");
        }
    }

    #[test]
    fn an_invalid_url_is_reported() {
        let check =
            |url: &str| check_url(&settings::Database { url: settings::Secret::new(url), pool_size: 2 });
        assert_eq!(check("postgres://u:p@h1:1,h2:2/x?sslmode=prefer"), Ok(()));
        for bad in
            ["postgres://u:p@[bad/x", "postgres://h:port/x", "postgres:///x", "postgres://h/x?colour=red"]
        {
            let said = check(bad).unwrap_err();
            assert!(said.starts_with("must be ") && !said.contains("u:p"), "{bad}: {said}");
        }
    }
}
