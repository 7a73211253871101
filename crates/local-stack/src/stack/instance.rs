//! One more instance of a service beside the stack's own, of another release perhaps: for tests of what comes and goes.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use anyhow::Context;
use domain::Entropy;

use super::Stack;
use super::kept::ServicePorts;
use super::services::{self, RunningService};
use crate::launch::Launch;
use crate::part::Service;

/// An instance with listeners of its own, and otherwise the settings of the stack's. Dropped, it ends at once.
pub struct Instance {
    service: Service,
    launch: Launch,
    ports: ServicePorts,
    log: PathBuf,
    running: Option<RunningService>,
}

impl Stack {
    /// An instance that is not started yet. The name is that of its log.
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
    /// Has it run another program than the stack's own instance does.
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

    /// Runs its program to its end with these arguments, as [`Stack::run`] does.
    ///
    /// # Errors
    /// When it cannot be started, or does not end in time.
    pub async fn run(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        services::run(&self.launch, self.service, arguments).await
    }

    /// Starts it; whether it is ready is another question.
    ///
    /// # Errors
    /// When there are no threads left.
    pub fn start(&mut self) -> anyhow::Result<()> {
        let launch = self.launch.clone();
        self.running = Some(services::start(launch, self.service, self.ports, Arc::new(|_| {}))?);
        Ok(())
    }

    /// Waits until it is ready.
    ///
    /// # Errors
    /// When it is not within its time, with the end of its log.
    pub async fn ready(&self) -> anyhow::Result<()> {
        self.running()?.ready().await
    }

    /// Stops it in good order.
    ///
    /// # Errors
    /// When it does not end, even by force.
    pub async fn stop(&self) -> anyhow::Result<()> {
        self.running()?.process.stop().await
    }

    /// The process that runs now.
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref()?.process.pid()
    }

    /// Origin of its public listener.
    pub fn public_url(&self) -> String {
        origin(self.ports.public.unwrap_or_default())
    }

    /// Origin of its internal listener.
    pub fn internal_url(&self) -> String {
        origin(self.ports.internal)
    }

    /// Origin of its health and metrics.
    pub fn management_url(&self) -> String {
        origin(self.ports.management)
    }

    /// What it has printed.
    pub fn log(&self) -> &Path {
        &self.log
    }

    fn running(&self) -> anyhow::Result<&RunningService> {
        self.running.as_ref().context("the instance was not started")
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.running = None;
        self.ports.give_back();
    }
}

fn origin(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
