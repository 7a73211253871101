//! Servers for tests: one pair per process, or the pair that `local-stack with-servers` started for all processes.

mod leftovers;
mod templates;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::Context;
use domain::Entropy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::paths;
use crate::ports;
use crate::postgres::{Admin, Postgres, PostgresOptions};
use crate::rabbitmq::{BrokerAdmin, RabbitMq, RabbitMqOptions, RabbitMqPorts};
use crate::supervised::Listener;

static FOR_THIS_PROCESS: OnceCell<TestServers> = OnceCell::const_new();

/// Access to the servers that this process's tests share.
pub struct Servers;

impl Servers {
    /// The servers of the parent process, or else a pair that is started once and removed when this process ends.
    ///
    /// # Errors
    /// When PostgreSQL or RabbitMQ is not installed or does not start. The error shows the end of its log.
    pub async fn for_tests() -> anyhow::Result<&'static TestServers> {
        FOR_THIS_PROCESS.get_or_try_init(TestServers::offered_or_own).await
    }
}

/// A PostgreSQL and a RabbitMQ that tests share. Each test creates its own databases and virtual hosts.
pub struct TestServers {
    contact: Contact,
    entropy: Entropy,
    /// The running pair if this process started it. Dropping it stops the servers.
    own: Option<OwnPair>,
}

struct OwnPair {
    postgres: Postgres,
    rabbitmq: RabbitMq,
    directory: PathBuf,
}

/// The access data for another process; the content of the file of [`TestServers::offer`].
#[derive(Serialize, Deserialize)]
struct Contact {
    postgres: Admin,
    rabbitmq: BrokerAdmin,
    /// The directory with the locks and logs of templates.
    directory: PathBuf,
    /// The passwords of the roles that own databases with a service's tables.
    password_of_copies: String,
}

/// `WAYBILL_TEST_SERVERS`: the file with the access data of the parent process's servers.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Offer {
    test_servers: Option<PathBuf>,
}

impl settings::Settings for Offer {
    fn check(&self, _faults: &mut settings::SettingErrors) {}
}

impl TestServers {
    /// The environment variable that names this file.
    pub const VARIABLE: &'static str = "WAYBILL_TEST_SERVERS";

    /// Starts a pair of servers on free ports, under `target/test-stacks/`. The servers and their directory go when
    /// this process ends, even if it is killed.
    ///
    /// # Errors
    /// As [`Servers::for_tests`].
    pub async fn start() -> anyhow::Result<Self> {
        let entropy = Entropy::from_system()?;
        let name = format!("{}-{:08x}", std::process::id(), entropy.below(u32::MAX));
        let directory = paths::test_directory().join(name);
        paths::stack_directory(&directory)?;
        remove_when_we_end(&directory)?;
        let (postgres, rabbitmq) = start_pair(&directory, &entropy).await?;
        let contact = Contact {
            postgres: postgres.admin().clone(),
            rabbitmq: rabbitmq.admin().clone(),
            directory: directory.clone(),
            password_of_copies: format!("{:032x}", entropy.u128()),
        };
        let own = OwnPair { postgres, rabbitmq, directory };
        Ok(Self { contact, entropy, own: Some(own) })
    }

    async fn offered_or_own() -> anyhow::Result<Self> {
        let offer: Offer = settings::load()?;
        let Some(file) = offer.test_servers else {
            return Self::start().await;
        };
        let text = fs::read(&file).with_context(|| format!("{} names {}", Self::VARIABLE, file.display()))?;
        Ok(Self { contact: serde_json::from_slice(&text)?, entropy: Entropy::from_system()?, own: None })
    }

    /// Writes the access data for child processes. Set [`TestServers::VARIABLE`] to the returned path for them.
    ///
    /// # Errors
    /// When this process did not start the servers, or the file cannot be written.
    pub fn offer(&self) -> anyhow::Result<PathBuf> {
        let own = self.own.as_ref().context("another process started these servers")?;
        let file = own.directory.join("servers.json");
        paths::write_private(&file, &serde_json::to_vec(&self.contact)?)?;
        Ok(file)
    }

    /// Stops the servers that this process started and removes their data.
    ///
    /// # Errors
    /// When the data cannot be removed.
    pub fn shut_down(self) -> anyhow::Result<()> {
        let Some(OwnPair { postgres, rabbitmq, directory }) = self.own else { return Ok(()) };
        drop(rabbitmq);
        drop(postgres);
        paths::remove_stack_directory(&directory)
    }

    /// Creates an empty database with its own role: `postgres://role:password@127.0.0.1:port/database`.
    ///
    /// # Errors
    /// When the server refuses or is unreachable.
    pub async fn create_database(&self) -> anyhow::Result<String> {
        let password = format!("{:032x}", self.entropy.u128());
        self.contact.postgres.create_database(&self.new_name(), &password).await
    }

    /// Creates a virtual host: `amqp://user:password@127.0.0.1:port/vhost`.
    ///
    /// # Errors
    /// When the broker refuses or is unreachable.
    pub async fn create_vhost(&self) -> anyhow::Result<String> {
        self.contact.rabbitmq.create_vhost(&self.new_name()).await
    }

    /// A name that contains the process id.
    fn new_name(&self) -> String {
        format!("{}{}_{:032x}", leftovers::PREFIX, std::process::id(), self.entropy.u128())
    }

    /// Creates a user who may configure, write and read the resources of a virtual host that match these expressions.
    ///
    /// # Errors
    /// As [`Servers::create_vhost`].
    pub async fn create_broker_user(&self, vhost_url: &str, rights: [&str; 3]) -> anyhow::Result<String> {
        let vhost = vhost_url.rsplit('/').next().context("the URL names no virtual host")?;
        self.contact.rabbitmq.create_user(vhost, &format!("user_{:032x}", self.entropy.u128()), rights).await
    }
}

async fn start_pair(directory: &Path, entropy: &Entropy) -> anyhow::Result<(Postgres, RabbitMq)> {
    let secret = || format!("{:032x}", entropy.u128());
    let postgres = PostgresOptions {
        directory: directory.to_owned(),
        port: ports::free(entropy)?,
        password: secret(),
        survives_power_cuts: false,
        language: None,
    };
    let rabbitmq = RabbitMqOptions {
        directory: directory.to_owned(),
        ports: RabbitMqPorts::free(entropy)?,
        password: secret(),
    };
    let ignored_notices: Listener = Arc::new(|_| {});
    tokio::try_join!(
        Postgres::start(&postgres, ignored_notices.clone()),
        RabbitMq::start(&rabbitmq, ignored_notices.clone())
    )
}

/// A test program has no exit hook and may be killed. So a shell waits until its input closes, which happens when this
/// process ends, and removes the directory. It retries while servers are still stopping.
pub(crate) fn remove_when_we_end(directory: &Path) -> anyhow::Result<()> {
    const SCRIPT: &str = r#"read -r _
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            rm -rf -- "$1" "$2" 2>/dev/null && exit
            sleep 0.2
        done"#;
    let child = Command::new("sh")
        .args(["-c", SCRIPT, "sh"])
        .args([directory, &paths::outside(directory)?])
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("starting sh")?;
    // The pipe stays open until this process ends. Nobody waits for the shell.
    std::mem::forget(child);
    Ok(())
}
