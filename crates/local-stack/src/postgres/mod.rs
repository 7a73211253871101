//! A private PostgreSQL: made once, started on a loopback port, kept running.

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
use crate::supervised::{Farewell, Listener, Supervised};
use admin::ADMIN;

const READY_LIMIT: Duration = Duration::from_secs(60);

/// What a private PostgreSQL is made of.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Holds the data and the log.
    pub directory: PathBuf,
    pub port: u16,
    /// Of the owning role. Set when the data is made, so it must be kept with the data.
    pub password: String,
    /// Whether a commit survives a power cut. It survives a crash of the server in either case.
    pub survives_power_cuts: bool,
    /// What it speaks to roles that ask for no language: `de`, for instance, where PostgreSQL's translations are installed.
    pub language: Option<&'static str>,
}

/// A running PostgreSQL. Dropping it ends the server.
pub struct Postgres {
    server: Supervised,
    admin: Admin,
}

impl Postgres {
    /// Makes the data unless it is there, starts the server and waits until it answers.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, cannot be started, or does not answer within a minute.
    pub async fn start(options: &PostgresOptions, listener: Listener) -> anyhow::Result<Self> {
        let account = Account::to_step_down_to()?;
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
        let farewell =
            Farewell { signal: Signal::INT, grace: Duration::from_secs(20), at_once: Signal::QUIT };
        let admin = Admin { port: options.port, password: options.password.clone() };
        let server = Supervised::start("postgres", server, farewell, listener)?;
        server.first_ready(READY_LIMIT, async || admin.answers().await).await?;
        admin.close_to_others().await?;
        Ok(Self { server, admin })
    }

    /// Of the owning role, to the maintenance database.
    pub fn admin_url(&self) -> String {
        self.admin.url(ADMIN, &self.admin.password, "postgres")
    }

    /// Of a role in a database of its own.
    pub fn url(&self, role: &str, password: &str, database: &str) -> String {
        self.admin.url(role, password, database)
    }

    /// Makes the role and its database, or finds them and sets the password. No other role may connect to it.
    ///
    /// # Errors
    /// When the server refuses or cannot be reached.
    pub async fn create_database(&self, name: &str, password: &str) -> anyhow::Result<String> {
        self.admin.create_database(name, password).await
    }

    pub fn pid(&self) -> Option<u32> {
        self.server.pid()
    }

    /// SIGKILL; the supervisor starts it again.
    ///
    /// # Errors
    /// When it is not running.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.server.kill().await
    }

    /// Stops it in good order and starts it again.
    ///
    /// # Errors
    /// When it does not come back.
    pub async fn restart(&self) -> anyhow::Result<()> {
        self.server.stop().await?;
        self.server.bring_up();
        self.ready().await
    }

    /// Stops it in good order; it stays down.
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
        format!("fsync={durable}"),
        format!("full_page_writes={durable}"),
    ];
    let mut launch = Launch::secluded(programs.join("postgres"), log)
        .account(account)
        // Immediate shutdown: the children go too, and the next start recovers as after a crash.
        .parting_signal("QUIT")
        .argument("-D")
        .argument(data);
    if let Some(language) = options.language {
        // With the locale `C` no language is asked for.
        launch = launch.variable("LANGUAGE", language).argument("-c").argument("lc_messages=C.UTF-8");
    }
    settings.iter().fold(launch, |launch, setting| launch.argument("-c").argument(setting))
}
