//! Servers for tests: one pair per process, or the pair that `local-stack with-servers` started for all of them.

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

use crate::places;
use crate::ports;
use crate::postgres::{Admin, Postgres, PostgresOptions};
use crate::rabbitmq::{BrokerAdmin, RabbitMq, RabbitMqOptions, RabbitMqPorts};
use crate::supervised::Listener;

static FOR_THIS_PROCESS: OnceCell<TestServers> = OnceCell::const_new();

/// The way to the servers that this process's tests share.
pub struct Servers;

impl Servers {
    /// The servers that a parent process offers, else a pair of our own, started once and removed when we end.
    ///
    /// # Errors
    /// When PostgreSQL or RabbitMQ is not installed or does not start; the message holds the end of its log.
    pub async fn for_tests() -> anyhow::Result<&'static TestServers> {
        FOR_THIS_PROCESS.get_or_try_init(TestServers::offered_or_own).await
    }
}

/// A PostgreSQL and a RabbitMQ that tests share; each test makes its own databases and virtual hosts.
pub struct TestServers {
    contact: Contact,
    entropy: Entropy,
    /// The running pair when this process started it; dropping it ends the servers.
    own: Option<OwnPair>,
}

struct OwnPair {
    postgres: Postgres,
    rabbitmq: RabbitMq,
    directory: PathBuf,
}

/// What another process needs to use the servers; the content of the file that [`TestServers::offer`] writes.
#[derive(Serialize, Deserialize)]
struct Contact {
    postgres: Admin,
    rabbitmq: BrokerAdmin,
    /// Holds the locks and logs of templates.
    directory: PathBuf,
    /// Of the roles that own databases with a service's tables.
    password_of_copies: String,
}

/// `WAYBILL_TEST_SERVERS`: the file in which a parent process offers its servers.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Offer {
    test_servers: Option<PathBuf>,
}

impl settings::Settings for Offer {
    fn check(&self, _faults: &mut settings::SettingErrors) {}
}

impl TestServers {
    /// The environment variable that names the file in which servers are offered.
    pub const VARIABLE: &'static str = "WAYBILL_TEST_SERVERS";

    /// A pair of servers of our own, on free ports, under `target/test-stacks/`. Whatever happens to this process,
    /// the servers end with it and their directory goes.
    ///
    /// # Errors
    /// As [`Servers::for_tests`].
    pub async fn start() -> anyhow::Result<Self> {
        let entropy = Entropy::from_system()?;
        let name = format!("{}-{:08x}", std::process::id(), entropy.below(u32::MAX));
        let directory = places::test_directory().join(name);
        places::stack_directory(&directory)?;
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

    /// Offers our own servers to child processes: the file's path belongs into their [`TestServers::VARIABLE`].
    ///
    /// # Errors
    /// When the servers are not our own, or the file cannot be written.
    pub fn offer(&self) -> anyhow::Result<PathBuf> {
        let own = self.own.as_ref().context("these servers are someone else's to offer")?;
        let file = own.directory.join("servers.json");
        places::write_private(&file, &serde_json::to_vec(&self.contact)?)?;
        Ok(file)
    }

    /// Ends our own servers and removes their data.
    ///
    /// # Errors
    /// When the data cannot be removed.
    pub fn shut_down(self) -> anyhow::Result<()> {
        let Some(OwnPair { postgres, rabbitmq, directory }) = self.own else { return Ok(()) };
        drop(rabbitmq);
        drop(postgres);
        places::remove_stack_directory(&directory)
    }

    /// A fresh, empty database with a role of its own: `postgres://role:password@127.0.0.1:port/database`.
    ///
    /// # Errors
    /// When the server refuses or cannot be reached.
    pub async fn create_database(&self) -> anyhow::Result<String> {
        let password = format!("{:032x}", self.entropy.u128());
        self.contact.postgres.create_database(&self.new_name(), &password).await
    }

    /// A fresh virtual host: `amqp://user:password@127.0.0.1:port/vhost`.
    ///
    /// # Errors
    /// When the broker refuses or cannot be reached.
    pub async fn create_vhost(&self) -> anyhow::Result<String> {
        self.contact.rabbitmq.create_vhost(&self.new_name()).await
    }

    /// A name that says which process it belongs to.
    fn new_name(&self) -> String {
        format!("{}{}_{:032x}", leftovers::PREFIX, std::process::id(), self.entropy.u128())
    }

    /// A user of a virtual host of ours who may configure, write and read what these expressions match; its URL.
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
    let unheard: Listener = Arc::new(|_| {});
    tokio::try_join!(Postgres::start(&postgres, unheard.clone()), RabbitMq::start(&rabbitmq, unheard.clone()))
}

/// A test program has no hook for its end, and may be killed. So a shell waits for the end of its input, which only
/// we hold, and then removes the directory; servers that are still on their way out are given a few tries.
pub(crate) fn remove_when_we_end(directory: &Path) -> anyhow::Result<()> {
    const SCRIPT: &str = r#"read -r _
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            rm -rf -- "$1" "$2" 2>/dev/null && exit
            sleep 0.2
        done"#;
    let child = Command::new("sh")
        .args(["-c", SCRIPT, "sh"])
        .args([directory, &places::outside(directory)?])
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("starting sh")?;
    // Held open, unwritten, until this process is gone; the shell is not ours to wait for.
    std::mem::forget(child);
    Ok(())
}
