//! The whole of Waybill on this machine: servers, databases, and the five services, kept running.

mod faults;
mod file;
mod instance;
mod kept;
mod lock;
mod options;
mod services;
mod start;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use domain::Entropy;
use tokio::task::JoinSet;

pub use instance::Instance;
pub use kept::Demo;
pub use options::{Detour, Link, Progress, StackOptions};
pub(crate) use services::migrate;

use crate::launch::Launch;
use crate::part::Service;
use crate::places;
use crate::postgres::Postgres;
use crate::rabbitmq::RabbitMq;
use crate::sql;
use crate::test_servers::{Servers, remove_when_we_end};
use file::StackFile;
use kept::Kept;
use lock::Lock;
use services::{Backends, RunningService};

/// Removes the data of the stack in the directory, and answers whether there was any.
///
/// # Errors
/// When a stack is running there.
pub fn forget(directory: &Path) -> anyhow::Result<bool> {
    if !directory.exists() {
        return Ok(false);
    }
    let _lock = Lock::take(directory)?;
    places::remove_stack_directory(directory)?;
    Ok(true)
}

/// A running stack. Dropping it ends every process at once; [`Stack::shut_down`] does so in good order.
pub struct Stack {
    // In the order in which they are dropped: first those who use, then those who are used.
    services: BTreeMap<Service, Arc<RunningService>>,
    rabbitmq: Option<RabbitMq>,
    postgres: Option<Postgres>,
    /// How each service's program is started.
    launches: BTreeMap<Service, Launch>,
    kept: Mutex<Kept>,
    backends: Backends,
    file: Arc<StackFile>,
    progress: Progress,
    directory: PathBuf,
    /// Whether the directory goes with the stack.
    is_for_a_test: bool,
    _lock: Lock,
}

impl Stack {
    /// Starts everything, and answers when everything is ready.
    ///
    /// # Errors
    /// When a part cannot be started or is not ready in time; what was started has then been stopped.
    pub async fn start(options: StackOptions) -> anyhow::Result<Self> {
        start::start(options).await
    }

    /// A stack for one test, on the servers that tests share.
    ///
    /// # Errors
    /// As [`Stack::start`].
    pub async fn for_tests() -> anyhow::Result<Self> {
        let directory = Self::test_directory()?;
        let servers = Servers::for_tests().await?;
        Self::start_for_test(StackOptions::on_test_servers(&directory, servers)).await
    }

    /// A stack for one test that also kills PostgreSQL or RabbitMQ.
    ///
    /// # Errors
    /// As [`Stack::start`].
    pub async fn for_fault_tests() -> anyhow::Result<Self> {
        let directory = Self::test_directory()?;
        Self::start_for_test(StackOptions::with_own_test_servers(&directory)).await
    }

    /// Starts a stack whose directory, one that [`Stack::test_directory`] made, goes with it.
    ///
    /// # Errors
    /// As [`Stack::start`].
    pub async fn start_for_test(options: StackOptions) -> anyhow::Result<Self> {
        let mut stack = Self::start(options).await?;
        stack.is_for_a_test = true;
        Ok(stack)
    }

    /// A new directory under `target/test-stacks/`, which goes with this process at the latest.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn test_directory() -> anyhow::Result<PathBuf> {
        let name = format!("{}-{:08x}", std::process::id(), Entropy::from_system()?.below(u32::MAX));
        let directory = places::test_directory().join(name);
        places::stack_directory(&directory)?;
        remove_when_we_end(&directory)?;
        Ok(directory)
    }

    /// Base URL of the integration and fleet API, ending in `/v1`.
    pub fn order_api(&self) -> String {
        format!("{}/v1", self.public_origin(Service::OrderApi))
    }

    /// Origin of the tracking pages.
    pub fn order_api_origin(&self) -> String {
        self.public_origin(Service::OrderApi)
    }

    /// Origin of the portal's API.
    pub fn portal_api(&self) -> String {
        self.public_origin(Service::PortalApi)
    }

    /// Origin of a service's internal listener.
    pub fn internal_url(&self, service: Service) -> String {
        self.origin(service, |ports| Some(ports.internal))
    }

    /// Origin of a service's health and metrics.
    pub fn management_url(&self, service: Service) -> String {
        self.origin(service, |ports| Some(ports.management))
    }

    pub fn fleet_token(&self) -> String {
        self.with_kept(|kept| kept.secrets.fleet_token.clone())
    }

    pub fn operator_token(&self) -> String {
        self.with_kept(|kept| kept.secrets.operator_token.clone())
    }

    pub fn internal_token(&self) -> String {
        self.with_kept(|kept| kept.secrets.internal_token.clone())
    }

    /// Of the service's own database, as its own role.
    pub fn database_url(&self, service: Service) -> &str {
        self.backends.databases.get(&service).map_or("", String::as_str)
    }

    /// Runs SQL in a service's database, as [`crate::query`] does.
    ///
    /// # Errors
    /// When the server refuses a statement or cannot be reached.
    pub async fn query(&self, service: Service, sql: &str) -> anyhow::Result<String> {
        sql::query(self.database_url(service), sql).await
    }

    /// Runs a service's program to its end beside the service itself, with the same environment and these arguments:
    /// `run(Service::Wallet, &["reconcile"])`. Its exit code and what it printed are the answer.
    ///
    /// # Errors
    /// When it cannot be started, or does not end within three minutes; it has then been killed.
    pub async fn run(&self, service: Service, arguments: &[&str]) -> anyhow::Result<Output> {
        let launch = self.launches.get(&service).context("the stack runs every service")?;
        services::run(launch, service, arguments).await
    }

    /// A database of its own, kept with the stack's data, for a program beside the services; its URL. Asked for again,
    /// it is the same database.
    ///
    /// # Errors
    /// When the stack's servers are shared with other tests, which make databases of their own, or cannot be reached.
    pub async fn create_database(&self, name: &str) -> anyhow::Result<String> {
        let postgres = self.postgres.as_ref().context("the stack has no PostgreSQL of its own")?;
        let password = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let password = kept.secrets.of_other_database(name)?;
            kept.save(&self.directory)?;
            password
        };
        postgres.create_database(name, &password).await
    }

    /// Of the stack's own PostgreSQL, to the maintenance database, as the role that owns the server.
    ///
    /// # Errors
    /// When the stack's servers are shared with other tests.
    pub fn admin_url(&self) -> anyhow::Result<String> {
        Ok(self.postgres.as_ref().context("the stack has no PostgreSQL of its own")?.admin_url())
    }

    /// AMQP URL of the stack's virtual host.
    pub fn broker_url(&self) -> &str {
        &self.backends.broker
    }

    /// Holds the data, the logs and `stack.json`.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the portal's mails go, as `.eml` files.
    pub fn mails(&self) -> PathBuf {
        self.directory.join(services::MAILS)
    }

    /// What the demo of an earlier run left, or [`Stack::set_demo`] set.
    pub fn demo(&self) -> Option<Demo> {
        self.with_kept(|kept| kept.demo.clone())
    }

    /// Keeps the demo's account for later runs, and shows it in `stack.json`.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn set_demo(&self, demo: Demo) -> anyhow::Result<()> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.demo = Some(demo.clone());
        kept.save(&self.directory)?;
        self.file.set_demo(Some(demo))
    }

    /// Stops the services, which finish what they accepted, then the servers.
    ///
    /// # Errors
    /// When a process could not be stopped, even by force.
    pub async fn shut_down(self) -> anyhow::Result<()> {
        self.file.withdraw()?;
        (self.progress)("Stopping the services");
        let mut stopping: JoinSet<anyhow::Result<()>> = JoinSet::new();
        for service in self.services.values() {
            let service = Arc::clone(service);
            stopping.spawn(async move { service.process.stop().await });
        }
        while let Some(stopped) = stopping.join_next().await {
            stopped.context("stopping a service")??;
        }
        (self.progress)("Stopping RabbitMQ and PostgreSQL");
        let rabbitmq = async { if let Some(server) = &self.rabbitmq { server.stop().await } else { Ok(()) } };
        let postgres = async { if let Some(server) = &self.postgres { server.stop().await } else { Ok(()) } };
        tokio::try_join!(rabbitmq, postgres)?;
        Ok(())
    }

    fn public_origin(&self, service: Service) -> String {
        self.origin(service, |ports| ports.public)
    }

    fn origin(&self, service: Service, port: impl Fn(kept::ServicePorts) -> Option<u16>) -> String {
        // Every service's ports were looked up when it was started.
        let port = self.with_kept(|kept| kept.ports.of(service).ok().and_then(port)).unwrap_or_default();
        format!("http://127.0.0.1:{port}")
    }

    fn with_kept<T>(&self, read: impl FnOnce(&Kept) -> T) -> T {
        read(&self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.services.clear();
        self.rabbitmq = None;
        self.postgres = None;
        self.with_kept(|kept| kept.ports.give_back());
        // A leftover file is harmless: the next start removes it.
        let _left = self.file.withdraw();
        if self.is_for_a_test {
            self.leave_only_failures();
        }
    }
}

impl Stack {
    /// Removes a test's directory. When the test failed, its logs move to where they can be read.
    fn leave_only_failures(&self) {
        if std::thread::panicking() {
            let name = self.directory.file_name().unwrap_or_default();
            let kept = places::test_directory().join("failed").join(name);
            let moved = fs::create_dir_all(&kept)
                .and_then(|()| fs::rename(self.directory.join("logs"), kept.join("logs")));
            match moved {
                Ok(()) => eprintln!("the logs of this test's stack are in {}", kept.display()),
                Err(error) => eprintln!("the logs of this test's stack are lost: {error}"),
            }
        }
        // The process's end removes what this could not.
        let _left = places::remove_stack_directory(&self.directory);
    }
}
