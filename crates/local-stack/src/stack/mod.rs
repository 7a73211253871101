//! Waybill on one machine: servers, databases and the five services, supervised.

mod faults;
mod file;
mod instance;
mod lock;
mod options;
mod saved_state;
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
pub use options::{Detour, Link, Progress, StackOptions};
pub use saved_state::Demo;
pub(crate) use services::migrate;

use crate::launch::Launch;
use crate::part::Service;
use crate::paths;
use crate::postgres::Postgres;
use crate::rabbitmq::RabbitMq;
use crate::sql;
use crate::test_servers::{Servers, remove_when_we_end};
use file::StackFile;
use lock::Lock;
use saved_state::SavedState;
use services::{Backends, RunningService};

/// Deletes the data of the stack in the directory. Returns whether there was any.
///
/// # Errors
/// When a stack is running there.
pub fn forget(directory: &Path) -> anyhow::Result<bool> {
    if !directory.exists() {
        return Ok(false);
    }
    let _lock = Lock::take(directory)?;
    paths::remove_stack_directory(directory)?;
    Ok(true)
}

/// A running stack. Dropping it kills all processes; [`Stack::shut_down`] stops them gracefully.
pub struct Stack {
    // In drop order: services before their servers.
    services: BTreeMap<Service, Arc<RunningService>>,
    rabbitmq: Option<RabbitMq>,
    postgres: Option<Postgres>,
    /// How to start each service's program.
    launches: BTreeMap<Service, Launch>,
    kept: Mutex<SavedState>,
    backends: Backends,
    file: Arc<StackFile>,
    progress: Progress,
    directory: PathBuf,
    /// Whether to remove the directory with the stack.
    is_for_a_test: bool,
    _lock: Lock,
}

impl Stack {
    /// Starts everything and returns when everything is ready.
    ///
    /// # Errors
    /// When a part cannot be started or is not ready in time. Everything that was started is stopped then.
    pub async fn start(options: StackOptions) -> anyhow::Result<Self> {
        start::start(options).await
    }

    /// A stack for one test, on shared servers.
    ///
    /// # Errors
    /// As [`Stack::start`].
    pub async fn for_tests() -> anyhow::Result<Self> {
        let directory = Self::test_directory()?;
        let servers = Servers::for_tests().await?;
        Self::start_for_test(StackOptions::on_test_servers(&directory, servers)).await
    }

    /// A stack for one test that kills PostgreSQL or RabbitMQ.
    ///
    /// # Errors
    /// As [`Stack::start`].
    pub async fn for_fault_tests() -> anyhow::Result<Self> {
        let directory = Self::test_directory()?;
        Self::start_for_test(StackOptions::with_own_test_servers(&directory)).await
    }

    /// Starts a stack in a directory of [`Stack::test_directory`] and removes the directory with the stack.
    ///
    /// # Errors
    /// As [`Stack::start`].
    pub async fn start_for_test(options: StackOptions) -> anyhow::Result<Self> {
        let mut stack = Self::start(options).await?;
        stack.is_for_a_test = true;
        Ok(stack)
    }

    /// Creates a directory under `target/test-stacks/`, which is removed when this process ends at the latest.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn test_directory() -> anyhow::Result<PathBuf> {
        let name = format!("{}-{:08x}", std::process::id(), Entropy::from_system()?.below(u32::MAX));
        let directory = paths::test_directory().join(name);
        paths::stack_directory(&directory)?;
        remove_when_we_end(&directory)?;
        Ok(directory)
    }

    /// The base URL of the integration and fleet API, ending in `/v1`.
    pub fn order_api(&self) -> String {
        format!("{}/v1", self.public_origin(Service::OrderApi))
    }

    /// The origin of the tracking pages.
    pub fn order_api_origin(&self) -> String {
        self.public_origin(Service::OrderApi)
    }

    /// The origin of the portal's API.
    pub fn portal_api(&self) -> String {
        self.public_origin(Service::PortalApi)
    }

    /// The origin of the operator's console.
    pub fn operator_console(&self) -> String {
        self.origin(Service::PortalApi, |ports| ports.operator)
    }

    /// The origin of a service's internal listener.
    pub fn internal_url(&self, service: Service) -> String {
        self.origin(service, |ports| Some(ports.internal))
    }

    /// The origin of a service's management listener.
    pub fn management_url(&self, service: Service) -> String {
        self.origin(service, |ports| Some(ports.management))
    }

    pub fn fleet_token(&self) -> String {
        self.with_saved_state(|kept| kept.secrets.fleet_token.clone())
    }

    pub fn operator_token(&self) -> String {
        self.with_saved_state(|kept| kept.secrets.operator_token.clone())
    }

    pub fn internal_token(&self) -> String {
        self.with_saved_state(|kept| kept.secrets.internal_token.clone())
    }

    /// The URL of the service's own database and role.
    pub fn database_url(&self, service: Service) -> &str {
        self.backends.databases.get(&service).map_or("", String::as_str)
    }

    /// Runs SQL in a service's database, like [`crate::query`].
    ///
    /// # Errors
    /// When the server refuses a statement or is unreachable.
    pub async fn query(&self, service: Service, sql: &str) -> anyhow::Result<String> {
        sql::query(self.database_url(service), sql).await
    }

    /// Runs another process of a service's program with the same environment and these arguments, such as
    /// `run(Service::Wallet, &["reconcile"])`. Returns its exit code and output.
    ///
    /// # Errors
    /// When it cannot be started, or takes more than three minutes and is killed.
    pub async fn run(&self, service: Service, arguments: &[&str]) -> anyhow::Result<Output> {
        let launch = self.launches.get(&service).context("the stack runs every service")?;
        services::run(launch, service, arguments).await
    }

    /// The URL of a separate database for another program, kept with the stack's data. Repeated calls return the same
    /// database.
    ///
    /// # Errors
    /// When the stack's servers are shared with other tests, or are unreachable.
    pub async fn create_database(&self, name: &str) -> anyhow::Result<String> {
        let postgres = self.postgres.as_ref().context("the stack shares its PostgreSQL with other tests")?;
        let password = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let password = kept.secrets.of_other_database(name)?;
            kept.save(&self.directory)?;
            password
        };
        postgres.create_database(name, &password).await
    }

    /// The URL of the maintenance database of the stack's own PostgreSQL, for the role that owns the server.
    ///
    /// # Errors
    /// When the stack's servers are shared with other tests.
    pub fn admin_url(&self) -> anyhow::Result<String> {
        Ok(self.postgres.as_ref().context("the stack shares its PostgreSQL with other tests")?.admin_url())
    }

    /// The AMQP URL of the stack's virtual host.
    pub fn broker_url(&self) -> &str {
        &self.backends.broker
    }

    /// The directory with the data, the logs and `stack.json`.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory of the portal's mails, as `.eml` files.
    pub fn mails(&self) -> PathBuf {
        self.directory.join(services::MAILS)
    }

    /// The demo account of an earlier run or of [`Stack::set_demo`].
    pub fn demo(&self) -> Option<Demo> {
        self.with_saved_state(|kept| kept.demo.clone())
    }

    /// Stores the demo's account for later runs and in `stack.json`.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn set_demo(&self, demo: Demo) -> anyhow::Result<()> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.demo = Some(demo.clone());
        kept.save(&self.directory)?;
        self.file.set_demo(Some(demo))
    }

    /// Stops the services, which finish the work they accepted, and then the servers.
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

    fn origin(&self, service: Service, port: impl Fn(saved_state::ServicePorts) -> Option<u16>) -> String {
        // Starting the services has already looked up every port.
        let port =
            self.with_saved_state(|kept| kept.ports.of(service).ok().and_then(port)).unwrap_or_default();
        format!("http://127.0.0.1:{port}")
    }

    fn with_saved_state<T>(&self, read: impl FnOnce(&SavedState) -> T) -> T {
        read(&self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.services.clear();
        self.rabbitmq = None;
        self.postgres = None;
        self.with_saved_state(|kept| kept.ports.release());
        // A leftover file is harmless: the next start removes it.
        let _left = self.file.withdraw();
        if self.is_for_a_test {
            self.remove_directory_but_keep_failure_logs();
        }
    }
}

impl Stack {
    /// Removes a test's directory. If the test failed, keeps its logs elsewhere.
    fn remove_directory_but_keep_failure_logs(&self) {
        if std::thread::panicking() {
            let name = self.directory.file_name().unwrap_or_default();
            let kept = paths::test_directory().join("failed").join(name);
            let moved = fs::create_dir_all(&kept)
                .and_then(|()| fs::rename(self.directory.join("logs"), kept.join("logs")));
            match moved {
                Ok(()) => eprintln!("logs of this test's stack: {}", kept.display()),
                Err(error) => eprintln!("the logs of this test's stack could not be kept: {error}"),
            }
        }
        // The end of the process removes the rest.
        let _left = paths::remove_stack_directory(&self.directory);
    }
}
