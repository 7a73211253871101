//! Another instance of a service next to the stack's own, perhaps of another release, for rollout tests.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use anyhow::Context;
use domain::Entropy;

use super::Stack;
use super::saved_state::ServicePorts;
use super::services::{self, RunningService};
use crate::launch::Launch;
use crate::part::Service;

/// An instance with its own listeners and otherwise the stack's settings. Dropping it ends it at once.
pub struct Instance {
    service: Service,
    launch: Launch,
    ports: ServicePorts,
    log: PathBuf,
    running: Option<RunningService>,
}

impl Stack {
    /// Creates an instance without starting it. Its log has the given name.
    ///
    /// # Errors
    /// When there are no free ports.
    pub fn instance(&self, service: Service, name: &str) -> anyhow::Result<Instance> {
        let ports = ServicePorts::free(service, &Entropy::from_system()?)?;
        let log = self.directory().join(format!("logs/{name}.log"));
        let launch = self.launches.get(&service).context("the stack runs every service")?;
        let launch = services::listening(launch.clone().log(&log), ports);
        Ok(Instance { service, launch, ports, log, running: None })
    }
}

impl Instance {
    /// Uses another program than the stack's own instance.
    #[must_use]
    pub fn program(mut self, program: &Path) -> Self {
        self.launch = self.launch.clone().program(program);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.launch = self.launch.clone().variable(name, value);
        self
    }

    /// Runs the program with these arguments until it ends, like [`Stack::run`].
    ///
    /// # Errors
    /// When it cannot be started, or does not end in time.
    pub async fn run(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        services::run(&self.launch, self.service, arguments).await
    }

    /// Starts the instance without waiting until it is ready.
    ///
    /// # Errors
    /// When no thread can be created.
    pub fn start(&mut self) -> anyhow::Result<()> {
        let launch = self.launch.clone();
        self.running = Some(services::start(launch, self.service, self.ports, Arc::new(|_| {}))?);
        Ok(())
    }

    /// Waits until it is ready.
    ///
    /// # Errors
    /// When it is not ready in time. The error shows the end of its log.
    pub async fn ready(&self) -> anyhow::Result<()> {
        self.running()?.ready().await
    }

    /// Stops it gracefully.
    ///
    /// # Errors
    /// When it does not end, even by force.
    pub async fn stop(&self) -> anyhow::Result<()> {
        self.running()?.process.stop().await
    }

    /// The id of the running process.
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref()?.process.pid()
    }

    /// The origin of its public listener.
    pub fn public_url(&self) -> String {
        origin(self.ports.public.unwrap_or_default())
    }

    /// The origin of its internal listener.
    pub fn internal_url(&self) -> String {
        origin(self.ports.internal)
    }

    /// The origin of its management listener.
    pub fn management_url(&self) -> String {
        origin(self.ports.management)
    }

    /// Its log.
    pub fn log(&self) -> &Path {
        &self.log
    }

    fn running(&self) -> anyhow::Result<&RunningService> {
        self.running.as_ref().context("the instance is not started")
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.running = None;
        self.ports.release();
    }
}

fn origin(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
