//! A private PostgreSQL: made once, started on a loopback port, kept running.

use std::fs;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use rustix::process::Signal;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::account::Account;
use crate::launch::{Launch, log_tail};
use crate::places;
use crate::supervised::{Farewell, Listener, Supervised};

/// The role that owns the server. The services' roles own nothing but their database.
const ADMIN: &str = "waybill_admin";
const OLDEST_VERSION: u32 = 15;
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
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
}

/// A running PostgreSQL. Dropping it ends the server.
pub struct Postgres {
    server: Supervised,
    admin: Admin,
}

/// How to speak to a server as its owner, from any process.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Admin {
    psql: PathBuf,
    port: u16,
    password: String,
}

impl Postgres {
    /// Makes the data unless it is there, starts the server and waits until it answers.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, cannot be started, or does not answer within a minute.
    pub async fn start(options: &PostgresOptions, listener: Listener) -> anyhow::Result<Self> {
        let account = Account::to_step_down_to()?;
        let home = home(&options.directory, account)?;
        let data = home.join("data");
        let programs = programs_for(&data)?;
        let log = options.directory.join("logs/postgres.log");
        belongs_to_us(&home, account)?;
        if !data.exists() {
            initialise(options, account, &programs, &home, &log).await?;
        }
        let server = launch(options, account, &programs, &data, &log);
        wait_for_predecessor(&data).await?;
        let farewell =
            Farewell { signal: Signal::INT, grace: Duration::from_secs(20), at_once: Signal::QUIT };
        let admin =
            Admin { psql: programs.join("psql"), port: options.port, password: options.password.clone() };
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

impl Admin {
    fn url(&self, role: &str, password: &str, database: &str) -> String {
        format!("postgres://{role}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// As [`Postgres::create_database`]. Role and database share the name.
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
    async fn close_to_others(&self) -> anyhow::Result<()> {
        self.run("REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;").await
    }

    async fn answers(&self) -> bool {
        self.run("SELECT 1;").await.is_ok()
    }

    async fn run(&self, sql: &str) -> anyhow::Result<()> {
        let mut command = Command::new(&self.psql);
        command
            .env_clear()
            .envs([("LANG", "C.UTF-8"), ("PGCONNECT_TIMEOUT", "5"), ("PGPASSWORD", &self.password)])
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-password", "--set=ON_ERROR_STOP=1"])
            .args(["--host=127.0.0.1", &format!("--port={}", self.port)])
            .args([&format!("--username={ADMIN}"), "--dbname=postgres"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut psql = command.spawn().with_context(|| format!("starting {}", self.psql.display()))?;
        let mut input = psql.stdin.take().context("psql has no input")?;
        let work = async {
            // A psql that could not connect does not read; its exit status and message say more than a broken pipe.
            let _written = input.write_all(sql.as_bytes()).await;
            drop(input);
            psql.wait_with_output().await
        };
        let output = timeout(COMMAND_LIMIT, work).await.context("psql took too long")??;
        let message = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}", message.trim());
        Ok(())
    }
}

/// The directory that the server's account can reach; linked from `directory` when it lies elsewhere.
fn home(directory: &Path, account: Option<Account>) -> anyhow::Result<PathBuf> {
    places::stack_directory(directory)?;
    let link = directory.join("postgres");
    if link.exists() {
        return Ok(fs::canonicalize(link)?);
    }
    let home = places::directory_for(account, directory)?.join("postgres");
    if !home.exists() {
        places::private_directory(&home)?;
        if let Some(account) = account {
            account.take_over(&home)?;
        }
    }
    if home != link {
        // A link to a place that was cleaned away is of no use.
        let _absent = fs::remove_file(&link);
        symlink(&home, &link)?;
    }
    Ok(home)
}

/// Data made by root (as another account) is not readable for us, nor the other way round.
fn belongs_to_us(home: &Path, account: Option<Account>) -> anyhow::Result<()> {
    let us = account.map_or(rustix::process::geteuid().as_raw(), |account| account.uid);
    let owner = fs::metadata(home)?.uid();
    ensure!(
        owner == us,
        "the data in {} belongs to uid {owner}, but PostgreSQL would run as uid {us}; run as who made it, \
         or forget the data with `make reset`",
        home.display()
    );
    Ok(())
}

/// Where PostgreSQL's programs are: of the version that made the data, else the newest.
fn programs_for(data: &Path) -> anyhow::Result<PathBuf> {
    let installed = installed();
    if let Ok(version) = fs::read_to_string(data.join("PG_VERSION")) {
        let version: u32 = version.trim().parse().context("reading PG_VERSION")?;
        if let Some((_, programs)) = installed.iter().find(|(installed, _)| *installed == version) {
            return Ok(programs.clone());
        }
        bail!(
            "the data in {} is of PostgreSQL {version}, which is not installed; `make reset` forgets the data",
            data.display()
        );
    }
    match installed.into_iter().max() {
        Some((version, programs)) if version >= OLDEST_VERSION => Ok(programs),
        Some((version, _)) => bail!("PostgreSQL {version} is installed; {OLDEST_VERSION} or newer is needed"),
        None => bail!("PostgreSQL ({OLDEST_VERSION} or newer, the server and its tools) is not installed"),
    }
}

/// The installed versions and where their programs are: Debian's places, the packagers' other ones, the search path.
fn installed() -> Vec<(u32, PathBuf)> {
    let mut found = Vec::new();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    for directory in versions.map(|entry| entry.path()) {
        let version = directory.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let Some(version) = version {
            found.push((version, directory.join("bin")));
        }
    }
    found.retain(|(_, programs)| programs.join("postgres").is_file() && programs.join("initdb").is_file());
    if found.is_empty() {
        let search_path = settings::search_path();
        found.extend(std::env::split_paths(&search_path).find_map(|programs| {
            let is_server = programs.join("postgres").is_file() && programs.join("initdb").is_file();
            if is_server { Some((version_of(&programs.join("postgres"))?, programs)) } else { None }
        }));
    }
    found
}

/// From `postgres (PostgreSQL) 16.4`.
fn version_of(program: &Path) -> Option<u32> {
    let output = std::process::Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split_whitespace().find_map(|word| word.split('.').next()?.parse().ok())
}

/// Makes the data beside its final place and moves it there, so that an interrupted start leaves nothing half made.
async fn initialise(
    options: &PostgresOptions,
    account: Option<Account>,
    programs: &Path,
    home: &Path,
    log: &Path,
) -> anyhow::Result<()> {
    let unfinished = home.join("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    let password = home.join("password");
    write_password(&password, &options.password, account)?;
    let mut initdb = Launch::secluded(programs.join("initdb"), log)
        .account(account)
        .argument(format!("--pgdata={}", unfinished.display()))
        .argument(format!("--username={ADMIN}"))
        .argument(format!("--pwfile={}", password.display()))
        .argument("--auth=scram-sha-256")
        .argument("--encoding=UTF8")
        .argument("--locale=C");
    if !options.survives_power_cuts {
        initdb = initdb.argument("--no-sync");
    }
    let mut command = Command::from(initdb.logged_command()?);
    command.current_dir("/").kill_on_drop(true);
    let status = timeout(COMMAND_LIMIT, command.status()).await.context("initdb took too long")??;
    fs::remove_file(&password)?;
    ensure!(status.success(), "initdb failed; {}", log_tail(log));
    fs::rename(&unfinished, home.join("data"))?;
    Ok(())
}

fn write_password(path: &Path, password: &str, account: Option<Account>) -> anyhow::Result<()> {
    use std::io::Write;
    let _absent = fs::remove_file(path);
    let mut file = fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    writeln!(file, "{password}")?;
    if let Some(account) = account {
        account.take_over(path)?;
    }
    Ok(())
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
    let launch = Launch::secluded(programs.join("postgres"), log)
        .account(account)
        // Immediate shutdown: the children go too, and the next start recovers as after a crash.
        .parting_signal("QUIT")
        .argument("-D")
        .argument(data);
    settings.iter().fold(launch, |launch, setting| launch.argument("-c").argument(setting))
}

/// A server whose supervisor was killed may still be on its way out, and a second one refuses to start beside it.
async fn wait_for_predecessor(data: &Path) -> anyhow::Result<()> {
    let Ok(text) = fs::read_to_string(data.join("postmaster.pid")) else {
        return Ok(());
    };
    let Some(pid) = text.lines().next().and_then(|line| line.trim().parse::<u32>().ok()) else {
        return Ok(());
    };
    let data = data.to_string_lossy().into_owned();
    let gone = async || {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        !String::from_utf8_lossy(&words).contains(&data)
    };
    crate::wait::until("the previous PostgreSQL of this directory to end", Duration::from_secs(15), gone)
        .await
}
