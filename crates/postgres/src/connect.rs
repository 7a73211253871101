//! Connections to PostgreSQL. Every operation on them has a time limit, on the server and on the client.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use diesel::{ConnectionError, ConnectionResult};
use diesel_async::AsyncPgConnection;
use settings::{DatabaseUrl, Encryption, Secret};
use tls::TlsError;
use tokio::net::lookup_host;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
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

/// PostgreSQL's default port.
const PORT: u16 = 5432;
/// The ALPN protocol name of PostgreSQL.
const PROTOCOL: &[u8] = b"postgresql";

/// The time limit for connecting. It ends before the time limit of a checkout, so that its error is reported.
const CONNECT: Duration = Duration::from_millis(1_900);

/// The servers of a URL and the connection settings for them.
pub(crate) struct Target {
    /// Names no server.
    config: Config,
    servers: Vec<Server>,
    /// The position of the server that accepted the last connection. The next attempt starts with it.
    accepting: AtomicUsize,
    /// The TLS configuration; `None` connects without TLS.
    tls: Option<MakeRustlsConnect>,
}

/// A server that the URL names.
struct Server {
    host: Option<Host>,
    /// libpq's `hostaddr`, which replaces the name lookup.
    address: Option<IpAddr>,
    port: u16,
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

/// Parses the URL and adds the limits. An option in the URL takes precedence, except `target_session_attrs`.
pub(crate) fn configure(url: &Secret, limits: SessionLimits) -> Result<Target, TargetError> {
    let DatabaseUrl { rest, encryption } = DatabaseUrl::parse(url).map_err(TargetError::Url)?;
    let given: Config = rest.expose().parse()?;
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
    let mut config = session(&given, limits);
    config.ssl_mode(mode);
    Ok(Target { config, servers: servers(&given)?, accepting: AtomicUsize::new(0), tls })
}

/// The settings of a connection to any of the servers.
fn session(given: &Config, limits: SessionLimits) -> Config {
    let mut config = Config::new();
    // Later options win, so the URL's options come last.
    config.options(format!(
        "-c statement_timeout={} -c lock_timeout={} -c idle_in_transaction_session_timeout={} -c timezone=UTC {PLANNER} {}",
        limits.statement_timeout_ms,
        limits.lock_timeout_ms,
        limits.idle_in_transaction_timeout_ms,
        given.get_options().unwrap_or_default(),
    ));
    config.application_name(given.get_application_name().map_or_else(program_name, str::to_owned));
    if let Some(user) = given.get_user() {
        config.user(user);
    }
    if let Some(password) = given.get_password() {
        config.password(password);
    }
    if let Some(database) = given.get_dbname() {
        config.dbname(database);
    }
    config.ssl_negotiation(given.get_ssl_negotiation());
    config.channel_binding(given.get_channel_binding());
    // A standby accepts connections and rejects every write.
    config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    if let Some(limit) = given.get_connect_timeout() {
        config.connect_timeout(*limit);
    }
    // Detects an unreachable peer within about ten seconds; the system's default is many minutes.
    config.tcp_user_timeout(given.get_tcp_user_timeout().copied().unwrap_or(Duration::from_secs(8)));
    config.keepalives(true);
    config.keepalives_idle(Duration::from_secs(5));
    config.keepalives_interval(Duration::from_secs(2));
    config.keepalives_retries(3);
    config
}

/// A URL may name several hosts, each with a port, or all with the same port.
fn servers(given: &Config) -> Result<Vec<Server>, TargetError> {
    let (hosts, addresses, ports) = (given.get_hosts(), given.get_hostaddrs(), given.get_ports());
    let count = hosts.len().max(addresses.len());
    let fits = |names: usize| names == count || names == 0;
    if count == 0 || !fits(hosts.len()) || !fits(addresses.len()) || !(fits(ports.len()) || ports.len() == 1)
    {
        return Err(TargetError::Url(
            "must be a URL with a host, and with one port and hostaddr per host".into(),
        ));
    }
    let server = |position| Server {
        host: hosts.get(position).cloned(),
        address: addresses.get(position).copied(),
        port: ports.get(position).or(ports.first()).copied().unwrap_or(PORT),
    };
    Ok((0..count).map(server).collect())
}

/// # Errors
/// Describes the problem of the URL without showing the URL, because it contains a password.
pub fn check_url(settings: &settings::Database) -> Result<(), String> {
    match configure(&settings.url, SessionLimits::SERVING) {
        Ok(_) => Ok(()),
        Err(TargetError::Options(_)) => {
            Err("must be a URL such as postgres://user:password@host:5432/database".into())
        }
        Err(error) => Err(error.to_string()),
    }
}

impl Target {
    /// Connects to the first server that accepts writes. The servers, and the addresses of each, share the time that is
    /// left: a silent one must not use it up.
    pub(crate) async fn connect(&self) -> ConnectionResult<AsyncPgConnection> {
        let deadline = Instant::now() + CONNECT;
        let (count, first) = (self.servers.len(), self.accepting.load(Ordering::Relaxed));
        let mut reasons = Reasons::default();
        for (tried, (position, server)) in
            self.servers.iter().enumerate().cycle().skip(first).take(count).enumerate()
        {
            let until = share(deadline, count - tried);
            match self.connect_to_server(server, until, &mut reasons).await {
                Some(connection) => {
                    self.accepting.store(position, Ordering::Relaxed);
                    return Ok(connection);
                }
                None => tracing::debug!(position, ?reasons, "database server not used"),
            }
        }
        Err(reasons.into())
    }

    async fn connect_to_server(
        &self,
        server: &Server,
        deadline: Instant,
        reasons: &mut Reasons,
    ) -> Option<AsyncPgConnection> {
        let late = || ConnectionError::BadConnection("timed out while connecting".to_owned());
        let addresses = match timeout_at(deadline, server.addresses()).await {
            Ok(Ok(addresses)) => addresses,
            Ok(Err(error)) => {
                let text = format!("looking up the server's address failed: {error}");
                reasons.add(&[ConnectionError::BadConnection(text)]);
                return None;
            }
            Err(_) => {
                reasons.add(&[late()]);
                return None;
            }
        };
        let mut errors = Vec::new();
        for (tried, address) in addresses.iter().enumerate() {
            let until = share(deadline, addresses.len() - tried);
            let connecting = self.connect_to_address(server, *address);
            match timeout_at(until, connecting).await {
                Ok(Ok(connection)) => return Some(connection),
                Ok(Err(error)) => errors.push(error),
                Err(_) => errors.push(late()),
            }
        }
        reasons.add(&errors);
        None
    }

    async fn connect_to_address(
        &self,
        server: &Server,
        address: Option<IpAddr>,
    ) -> ConnectionResult<AsyncPgConnection> {
        let mut config = self.config.clone();
        config.port(server.port);
        match &server.host {
            Some(Host::Tcp(name)) => {
                config.host(name);
            }
            Some(Host::Unix(path)) => {
                config.host_path(path);
            }
            None => {}
        }
        if let Some(address) = address {
            config.hostaddr(address);
        }
        match &self.tls {
            None => {
                let (client, connection) = config.connect(NoTls).await.map_err(failure)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
            Some(tls) => {
                let (client, connection) = config.connect(tls.clone()).await.map_err(failure)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
        }
    }
}

impl Server {
    /// `None` for a Unix socket.
    async fn addresses(&self) -> io::Result<Vec<Option<IpAddr>>> {
        match (&self.host, self.address) {
            (Some(Host::Tcp(name)), None) => {
                Ok(lookup_host((name.as_str(), self.port)).await?.map(|address| Some(address.ip())).collect())
            }
            (_, address) => Ok(vec![address]),
        }
    }
}

/// Why none of the servers is used.
#[derive(Debug, Default)]
struct Reasons {
    texts: Vec<String>,
    /// Whether a server could still come. Not if it refuses us at one of its addresses.
    may_pass: bool,
}

impl Reasons {
    /// Of one server's addresses.
    fn add(&mut self, errors: &[ConnectionError]) {
        let is_refusal = |error: &ConnectionError| matches!(error, ConnectionError::InvalidConnectionUrl(_));
        self.may_pass |= !errors.iter().any(is_refusal);
        self.texts.extend(errors.iter().map(ToString::to_string));
    }
}

impl From<Reasons> for ConnectionError {
    fn from(Reasons { texts, may_pass }: Reasons) -> Self {
        let text = texts.join("; ");
        if may_pass { Self::BadConnection(text) } else { Self::InvalidConnectionUrl(text) }
    }
}

fn failure(error: tokio_postgres::Error) -> ConnectionError {
    let text = with_causes(&error);
    match error.code() {
        Some(&SqlState::INVALID_PASSWORD)
        | Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
        | Some(&SqlState::INVALID_CATALOG_NAME) => ConnectionError::InvalidConnectionUrl(text),
        _ => ConnectionError::BadConnection(text),
    }
}

/// The end of the next attempt's share of the time that is left.
fn share(deadline: Instant, attempts: usize) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) / u32::try_from(attempts.max(1)).unwrap_or(u32::MAX)
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

    fn database(url: &str) -> settings::Database {
        settings::Database { url: Secret::new(url), pool_size: 2, serving_role: None }
    }

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
            let settings = database(url);
            assert_eq!(exposure(&settings).is_some(), is_exposed, "{url}");
        }
    }

    #[test]
    fn an_invalid_url_is_reported() {
        let check = |url: &str| check_url(&database(url));
        assert_eq!(check("postgres://u:p@h1:1,h2:2/x?sslmode=prefer"), Ok(()));
        for bad in
            ["postgres://u:p@[bad/x", "postgres://h:port/x", "postgres:///x", "postgres://h/x?colour=red"]
        {
            let said = check(bad).unwrap_err();
            assert!(said.starts_with("must be ") && !said.contains("u:p"), "{bad}: {said}");
        }
    }
}
