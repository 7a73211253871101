//! A private, supervised PostgreSQL on a loopback port.

mod admin;
mod data;
mod programs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;

pub(crate) use admin::Admin;
pub use programs::postgres_program;

use crate::account::Account;
use crate::launch::Launch;
use crate::supervised::{Listener, StopProcedure, Supervised};
use admin::ADMIN;

const READY_LIMIT: Duration = Duration::from_secs(60);

/// The options of a private PostgreSQL.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Holds the data and the log.
    pub directory: PathBuf,
    pub port: u16,
    /// The owner's password. It is part of the data, so keep it as long as the data.
    pub password: String,
    /// Whether a commit survives a power failure. It survives a crash of the server in either case.
    pub survives_power_cuts: bool,
    /// The language of messages for roles without one, such as `de`, if PostgreSQL's translations are installed.
    pub language: Option<&'static str>,
}

/// A running PostgreSQL. Dropping it stops the server.
pub struct Postgres {
    server: Supervised,
    admin: Admin,
}

impl Postgres {
    /// Creates the data if needed, starts the server and waits until it is ready.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, cannot be started, or does not answer within a minute.
    pub async fn start(options: &PostgresOptions, listener: Listener) -> anyhow::Result<Self> {
        let account = Account::for_postgres()?;
        let home = data::home(&options.directory, account)?;
        let cluster = home.join("data");
        let programs = programs::for_data(&cluster)?;
        let log = options.directory.join("logs/postgres.log");
        data::check_owner(&home, account)?;
        if !cluster.exists() {
            data::initialise(options, account, &programs, &home, &log).await?;
        }
        let server = launch(options, account, &programs, &cluster, &log);
        data::wait_for_predecessor(&cluster).await?;
        let stop_procedure =
            StopProcedure { signal: Signal::INT, grace: Duration::from_secs(20), at_once: Signal::QUIT };
        let admin = Admin { port: options.port, password: options.password.clone() };
        let server = Supervised::start("postgres", server, stop_procedure, listener)?;
        server.first_ready(READY_LIMIT, async || admin.answers().await).await?;
        admin.revoke_public_access().await?;
        Ok(Self { server, admin })
    }

    /// The URL of the maintenance database for the owning role.
    pub fn admin_url(&self) -> String {
        self.admin.url(ADMIN, &self.admin.password, "postgres")
    }

    /// The URL of a role's database.
    pub fn url(&self, role: &str, password: &str, database: &str) -> String {
        self.admin.url(role, password, database)
    }

    /// Creates the role and its database, or sets the password of the existing role. No other role may connect to it.
    ///
    /// # Errors
    /// When the server refuses or is unreachable.
    pub async fn create_database(&self, name: &str, password: &str) -> anyhow::Result<String> {
        self.admin.create_database(name, password).await
    }

    pub fn pid(&self) -> Option<u32> {
        self.server.pid()
    }

    /// Sends SIGKILL; the supervisor restarts it.
    ///
    /// # Errors
    /// When it is not running.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.server.kill().await
    }

    /// Stops it gracefully and starts it again.
    ///
    /// # Errors
    /// When it does not become ready.
    pub async fn restart(&self) -> anyhow::Result<()> {
        self.server.stop().await?;
        self.server.bring_up();
        self.ready().await
    }

    /// Stops it gracefully; it stays down.
    ///
    /// # Errors
    /// When it cannot be stopped, even by force.
    pub async fn stop(&self) -> anyhow::Result<()> {
        self.server.stop().await
    }

    /// Waits until it answers a query.
    ///
    /// # Errors
    /// When it does not within a minute.
    pub async fn ready(&self) -> anyhow::Result<()> {
        self.server.ready(READY_LIMIT, async || self.admin.answers().await).await
    }

    pub(crate) fn server(&self) -> &Supervised {
        &self.server
    }

    pub(crate) fn admin(&self) -> &Admin {
        &self.admin
    }
}

fn launch(
    options: &PostgresOptions,
    account: Option<Account>,
    programs: &Path,
    data: &Path,
    log: &Path,
) -> Launch {
    let durable = if options.survives_power_cuts { "on" } else { "off" };
    let settings = [
        format!("port={}", options.port),
        "listen_addresses=127.0.0.1".into(),
        "unix_socket_directories=".into(),
        "max_connections=300".into(),
        "shared_buffers=128MB".into(),
        "timezone=UTC".into(),
        "log_timezone=UTC".into(),
        "log_line_prefix=%m [%p] %u@%d ".into(),
        "log_error_verbosity=terse".into(),
        format!("fsync={durable}"),
        format!("full_page_writes={durable}"),
    ];
    let mut launch = Launch::isolated(programs.join("postgres"), log)
        .account(account)
        // Immediate shutdown also stops the child processes; the next start recovers as after a crash.
        .death_signal("QUIT")
        .argument("-D")
        .argument(data);
    if let Some(language) = options.language {
        // The locale `C` selects no language.
        launch = launch.variable("LANGUAGE", language).argument("-c").argument("lc_messages=C.UTF-8");
    }
    settings.iter().fold(launch, |launch, setting| launch.argument("-c").argument(setting))
}
