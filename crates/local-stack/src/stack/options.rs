//! The options of a stack.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::part::{Part, Service};
use crate::supervised::Listener;
use crate::test_servers::TestServers;

/// Receives progress messages while a stack starts and stops.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// A connection of a service to another part of the stack: its database server, the broker, or another service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    pub from: Service,
    pub to: Part,
}

/// Replaces the port of a link, so that a test's proxy can slow it down or cut it. Called once per link.
pub type Detour = Arc<dyn Fn(Link, u16) -> anyhow::Result<u16> + Send + Sync>;

/// Options for starting a stack.
pub struct StackOptions {
    pub(super) directory: PathBuf,
    pub(super) servers: StackServers,
    pub(super) variables: Vec<(Service, String, String)>,
    pub(super) programs: BTreeMap<Service, PathBuf>,
    pub(super) listener: Listener,
    pub(super) progress: Progress,
    pub(super) detour: Detour,
}

/// The PostgreSQL and RabbitMQ of a stack.
pub(super) enum StackServers {
    /// Its own servers, which it supervises.
    Own { survives_power_cuts: bool },
    /// Databases and a virtual host on shared servers.
    Shared(&'static TestServers),
}

impl StackOptions {
    /// A stack with its own servers and durable data, for development.
    pub fn new(directory: &Path) -> Self {
        Self::with(directory, StackServers::Own { survives_power_cuts: true })
    }

    /// A stack with its own servers, for tests that kill them.
    pub fn with_own_test_servers(directory: &Path) -> Self {
        Self::with(directory, StackServers::Own { survives_power_cuts: false })
    }

    /// A stack on shared servers, which starts faster.
    pub fn on_test_servers(directory: &Path, servers: &'static TestServers) -> Self {
        Self::with(directory, StackServers::Shared(servers))
    }

    fn with(directory: &Path, servers: StackServers) -> Self {
        Self {
            directory: directory.to_owned(),
            servers,
            variables: Vec::new(),
            programs: BTreeMap::new(),
            listener: Arc::new(|_| {}),
            progress: Arc::new(|_| {}),
            detour: Arc::new(|_, port| Ok(port)),
        }
    }

    /// Sets an environment variable of one service. It overrides the stack's own value.
    #[must_use]
    pub fn variable(mut self, service: Service, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((service, name.to_owned(), value.into()));
        self
    }

    /// Uses another program for the service, perhaps of another release. Its migrations create the service's tables.
    #[must_use]
    pub fn program(mut self, service: Service, program: &Path) -> Self {
        self.programs.insert(service, program.to_owned());
        self
    }

    /// Receives a notice when a process starts or dies.
    #[must_use]
    pub fn listener(mut self, listener: Listener) -> Self {
        self.listener = listener;
        self
    }

    /// Receives progress messages.
    #[must_use]
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Routes every link through a port of the caller, which can slow it down or cut it.
    #[must_use]
    pub fn detour(mut self, detour: Detour) -> Self {
        self.detour = detour;
        self
    }
}
