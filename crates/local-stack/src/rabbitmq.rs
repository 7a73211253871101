//! A private RabbitMQ with its own node, name server (epmd), ports, cookie and data.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use domain::Entropy;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::time::timeout;

use crate::launch::Launch;
use crate::paths;
use crate::ports::{self, loopback};
use crate::supervised::{Listener, StopProcedure, Supervised};

const NODE: &str = "waybill@localhost";
const USER: &str = "waybill";
/// The virtual host that the first start creates.
const FIRST_VHOST: &str = "waybill";
const READY_LIMIT: Duration = Duration::from_secs(90);
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// The loopback ports of one RabbitMQ.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct RabbitMqPorts {
    pub amqp: u16,
    pub distribution: u16,
    pub epmd: u16,
}

impl RabbitMqPorts {
    /// Three free ports.
    ///
    /// # Errors
    /// When there are none.
    pub fn free(entropy: &Entropy) -> anyhow::Result<Self> {
        let amqp = ports::free(entropy)?;
        let distribution = ports::free(entropy)?;
        Ok(Self { amqp, distribution, epmd: ports::free(entropy)? })
    }
}

/// The options of a private RabbitMQ.
#[derive(Clone, Debug)]
pub struct RabbitMqOptions {
    /// Holds the data, the settings and the log.
    pub directory: PathBuf,
    pub ports: RabbitMqPorts,
    /// The user's password. It is part of the data, so keep it as long as the data.
    pub password: String,
}

/// A running RabbitMQ. Dropping it stops the server.
pub struct RabbitMq {
    // Declared before the name server, so that it is dropped first.
    server: Supervised,
    _epmd: Supervised,
    admin: BrokerAdmin,
}

/// Access to a broker as its owner, from any process.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct BrokerAdmin {
    /// Holds the node's cookie.
    home: PathBuf,
    ports: RabbitMqPorts,
    password: String,
}

impl RabbitMq {
    /// Starts the broker, creates its data on the first start, and waits until it is ready.
    ///
    /// # Errors
    /// When RabbitMQ is not installed, cannot be started, or does not answer within 90 s.
    pub async fn start(options: &RabbitMqOptions, listener: Listener) -> anyhow::Result<Self> {
        let program = server_program()?;
        let home = options.directory.join("rabbitmq");
        paths::stack_directory(&options.directory)?;
        paths::private_directory(&home)?;
        write_settings(options, &home)?;
        wait_for_predecessor(&home).await?;

        let end_at_once =
            StopProcedure { signal: Signal::TERM, grace: Duration::from_secs(5), at_once: Signal::KILL };
        let epmd = Launch::isolated("epmd", &options.directory.join("logs/epmd.log"))
            .variable("ERL_EPMD_PORT", options.ports.epmd.to_string())
            .variable("ERL_EPMD_ADDRESS", "127.0.0.1");
        let epmd = Supervised::start("epmd", epmd, end_at_once, listener.clone())?;
        epmd.first_ready(READY_LIMIT, async || {
            TcpStream::connect(loopback(options.ports.epmd)).await.is_ok()
        })
        .await?;

        let in_order = StopProcedure { grace: Duration::from_secs(25), ..end_at_once };
        let server = Supervised::start("rabbitmq", launch(options, &program, &home), in_order, listener)?;
        let port = options.ports.amqp;
        server.first_ready(READY_LIMIT, async || greets(port).await).await?;
        let admin = BrokerAdmin { home, ports: options.ports, password: options.password.clone() };
        Ok(Self { server, _epmd: epmd, admin })
    }

    /// The URL of the first virtual host.
    pub fn url(&self) -> String {
        self.admin.url(FIRST_VHOST)
    }

    /// Creates a virtual host and returns its URL.
    ///
    /// # Errors
    /// When the broker refuses or is unreachable.
    pub async fn create_vhost(&self, name: &str) -> anyhow::Result<String> {
        self.admin.create_vhost(name).await
    }

    pub fn pid(&self) -> Option<u32> {
        self.server.pid()
    }

    /// Sends SIGKILL; the supervisor restarts it. RabbitMQ 3.10 saves the names of new quorum queues only twice a
    /// second: a queue declared in the last second is lost.
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

    /// Waits until it speaks AMQP.
    ///
    /// # Errors
    /// When it does not within 90 s.
    pub async fn ready(&self) -> anyhow::Result<()> {
        self.server.ready(READY_LIMIT, async || greets(self.admin.ports.amqp).await).await
    }

    pub(crate) fn server(&self) -> &Supervised {
        &self.server
    }

    pub(crate) fn admin(&self) -> &BrokerAdmin {
        &self.admin
    }
}

impl BrokerAdmin {
    fn url(&self, vhost: &str) -> String {
        format!("amqp://{USER}:{}@127.0.0.1:{}/{vhost}", self.password, self.ports.amqp)
    }

    /// As [`RabbitMq::create_vhost`].
    pub(crate) async fn create_vhost(&self, name: &str) -> anyhow::Result<String> {
        require_alphanumeric(name)?;
        let vhost = format!("rabbit_vhost:add(<<\"{name}\">>, <<\"{USER}\">>)");
        let rights = permissions(USER, name, [".*"; 3]);
        self.call_for(name, &format!("{vhost}, {rights}"), "{ok, ok}")
            .await
            .with_context(|| format!("creating the virtual host {name}"))?;
        Ok(self.url(name))
    }

    /// Creates a user who may configure, write and read the resources that these expressions match. Returns the URL.
    pub(crate) async fn create_user(
        &self,
        vhost: &str,
        user: &str,
        rights: [&str; 3],
    ) -> anyhow::Result<String> {
        require_alphanumeric(vhost)?;
        require_alphanumeric(user)?;
        let user_and_rights = format!(
            "rabbit_auth_backend_internal:add_user(<<\"{user}\">>, <<\"{password}\">>, <<\"{USER}\">>), {rights}",
            password = self.password,
            rights = permissions(user, vhost, rights),
        );
        self.call_for(user, &user_and_rights, "{ok, ok}")
            .await
            .with_context(|| format!("creating the user {user}"))?;
        Ok(format!("amqp://{user}:{}@127.0.0.1:{}/{vhost}", self.password, self.ports.amqp))
    }

    /// The names of all virtual hosts.
    pub(crate) async fn vhosts(&self) -> anyhow::Result<Vec<String>> {
        let names = self.call("vhosts", "rabbit_vhost:list_names()").await?;
        // {ok, [<<"one">>,<<"other">>]}: the names are in quotation marks.
        Ok(names.split('"').skip(1).step_by(2).map(str::to_owned).collect())
    }

    /// Deletes virtual hosts with their queues.
    pub(crate) async fn drop_vhosts(&self, names: &[String]) -> anyhow::Result<()> {
        for name in names {
            require_alphanumeric(name)?;
            let delete = format!("rabbit_vhost:delete(<<\"{name}\">>, <<\"{USER}\">>)");
            self.call_for(name, &delete, "{ok, ok}")
                .await
                .with_context(|| format!("deleting the virtual host {name}"))?;
        }
        Ok(())
    }

    async fn call_for(&self, caller: &str, expressions: &str, wanted: &str) -> anyhow::Result<()> {
        let answer = self.call(caller, expressions).await?;
        ensure!(answer == wanted, "the broker answered {answer}");
        Ok(())
    }

    /// Erlang's own remote call, which takes milliseconds; `rabbitmqctl` would start an Erlang machine for each call.
    /// `caller` is the unique node name of the call: calls without one are all named `c17` and exclude each other.
    async fn call(&self, caller: &str, expressions: &str) -> anyhow::Result<String> {
        let mut command = Command::new(erl_call()?);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("ERL_EPMD_PORT", self.ports.epmd.to_string())
            .args(["-h", caller, "-n", NODE, "-e"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut process = command.spawn().context("starting erl_call")?;
        let mut input = process.stdin.take().context("erl_call has no input")?;
        let work = async {
            let _written = input.write_all(format!("{expressions}.\n").as_bytes()).await;
            drop(input);
            process.wait_with_output().await
        };
        let output = timeout(COMMAND_LIMIT, work).await.context("erl_call took too long")??;
        let answer = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{} {}", answer.trim(), complaint.trim());
        Ok(answer.trim().to_owned())
    }
}

/// Names are inserted into Erlang expressions without quoting.
fn require_alphanumeric(name: &str) -> anyhow::Result<()> {
    ensure!(
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        "{name} must consist of letters and digits"
    );
    Ok(())
}

/// The call that lets a user configure, write and read the resources that these expressions match.
fn permissions(user: &str, vhost: &str, rights: [&str; 3]) -> String {
    let [configure, write, read] = rights.map(|right| right.replace('\\', "\\\\"));
    format!(
        "rabbit_auth_backend_internal:set_permissions(<<\"{user}\">>, <<\"{vhost}\">>, \
         <<\"{configure}\">>, <<\"{write}\">>, <<\"{read}\">>, <<\"{USER}\">>)"
    )
}

/// The server's own script. The script on the search path is the packager's wrapper, which changes the account and the
/// log.
fn server_program() -> anyhow::Result<PathBuf> {
    let packaged = PathBuf::from("/usr/lib/rabbitmq/bin/rabbitmq-server");
    match packaged.is_file().then_some(packaged).or_else(|| on_search_path("rabbitmq-server")) {
        Some(program) => Ok(program),
        None => bail!("RabbitMQ is not installed; install 3.10 or newer"),
    }
}

/// Erlang installs it in its own directory.
fn erl_call() -> anyhow::Result<PathBuf> {
    let packaged = PathBuf::from("/usr/lib/erlang/bin/erl_call");
    match packaged.is_file().then_some(packaged).or_else(|| on_search_path("erl_call")) {
        Some(program) => Ok(program),
        None => bail!("Erlang's erl_call is not installed; install Erlang's erl_interface tools"),
    }
}

fn on_search_path(program: &str) -> Option<PathBuf> {
    let search_path = settings::search_path();
    std::env::split_paths(&search_path).map(|directory| directory.join(program)).find(|path| path.is_file())
}

fn write_settings(options: &RabbitMqOptions, home: &Path) -> anyhow::Result<()> {
    let settings = format!(
        "listeners.tcp.1 = 127.0.0.1:{}\n\
         default_user = {USER}\n\
         default_pass = {}\n\
         default_vhost = {FIRST_VHOST}\n\
         log.console = true\n\
         log.console.level = info\n\
         log.file = false\n\
         # A log of 512 MB, the default, suits a server that has a disk to itself.\n\
         raft.wal_max_size_bytes = 67108864\n",
        options.ports.amqp, options.password
    );
    paths::write_private(&home.join("rabbitmq.conf"), settings.as_bytes())?;
    paths::write_private(&home.join("enabled_plugins"), b"[].\n")?;
    fs::create_dir_all(home.join("conf.d"))?;
    let cookie = home.join(".erlang.cookie");
    if !cookie.exists() {
        paths::write_private(&cookie, Entropy::from_system()?.u128().to_string().as_bytes())?;
    }
    Ok(())
}

fn launch(options: &RabbitMqOptions, program: &Path, home: &Path) -> Launch {
    let ports = options.ports;
    Launch::isolated(program, &options.directory.join("logs/rabbitmq.log"))
        .variable("HOME", home)
        .variable("ERL_EPMD_PORT", ports.epmd.to_string())
        .variable("ERL_EPMD_ADDRESS", "127.0.0.1")
        // Erlang must not start a name server in the background, because it would outlive us.
        .variable("ERL_AFLAGS", "-start_epmd false")
        // Makes the script exec the server, so that the process id is the server's.
        .variable("RUNNING_UNDER_SYSTEMD", "true")
        .variable("RABBITMQ_NODENAME", NODE)
        .variable("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
        .variable("RABBITMQ_NODE_PORT", ports.amqp.to_string())
        .variable("RABBITMQ_DIST_PORT", ports.distribution.to_string())
        .variable("RABBITMQ_MNESIA_BASE", home.join("data"))
        .variable("RABBITMQ_LOG_BASE", home.join("log"))
        .variable("RABBITMQ_PID_FILE", home.join("pid"))
        .variable("RABBITMQ_CONFIG_FILE", home.join("rabbitmq.conf"))
        .variable("RABBITMQ_CONFIG_FILES", home.join("conf.d"))
        .variable("RABBITMQ_ADVANCED_CONFIG_FILE", home.join("advanced.config"))
        .variable("RABBITMQ_CONF_ENV_FILE", home.join("rabbitmq-env.conf"))
        .variable("RABBITMQ_ENABLED_PLUGINS_FILE", home.join("enabled_plugins"))
        // One scheduler that sleeps when idle: with two, messages waited several times longer when the services kept both
        // cores busy. The node's port is on the loopback interface only.
        .variable(
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
            "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}",
        )
}

/// Whether a server on the port answers AMQP's protocol header with its first method frame.
async fn greets(port: u16) -> bool {
    let greeting = async {
        let mut stream = TcpStream::connect(loopback(port)).await?;
        stream.write_all(b"AMQP\x00\x00\x09\x01").await?;
        stream.read_u8().await
    };
    const METHOD_FRAME: u8 = 1;
    matches!(timeout(Duration::from_secs(3), greeting).await, Ok(Ok(METHOD_FRAME)))
}

/// The server of a killed supervisor may still be stopping and using the data.
async fn wait_for_predecessor(home: &Path) -> anyhow::Result<()> {
    let Ok(text) = fs::read_to_string(home.join("pid")) else {
        return Ok(());
    };
    let Ok(pid) = text.trim().parse::<u32>() else {
        return Ok(());
    };
    let home = home.to_string_lossy().into_owned();
    let gone = async || {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        !String::from_utf8_lossy(&words).contains(&home)
    };
    crate::wait::until("the previous RabbitMQ of this directory to end", Duration::from_secs(15), gone).await
}
