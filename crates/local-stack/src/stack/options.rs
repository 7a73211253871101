//! What a stack is made of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::part::{Part, Service};
use crate::supervised::Listener;
use crate::test_servers::TestServers;

/// Told what is being waited for while a stack starts and stops.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// A way on which a service reaches another part of the stack: its database's server, the broker, or a service that it
/// calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    pub from: Service,
    pub to: Part,
}

/// Asked once for each link, with the port that it leads to; answers the port to connect to instead.
pub type Detour = Arc<dyn Fn(Link, u16) -> anyhow::Result<u16> + Send + Sync>;

/// How a stack is started.
pub struct StackOptions {
    pub(super) directory: PathBuf,
    pub(super) servers: StackServers,
    pub(super) variables: Vec<(Service, String, String)>,
    pub(super) programs: BTreeMap<Service, PathBuf>,
    pub(super) listener: Listener,
    pub(super) progress: Progress,
    pub(super) detour: Detour,
}

/// Which PostgreSQL and RabbitMQ a stack uses.
pub(super) enum StackServers {
    /// Its own, which it supervises.
    Own { survives_power_cuts: bool },
    /// Databases and a virtual host on servers that others use too.
    Shared(&'static TestServers),
}

impl StackOptions {
    /// A stack with servers of its own, whose data survives what a developer's machine goes through.
    pub fn new(directory: &Path) -> Self {
        Self::with(directory, StackServers::Own { survives_power_cuts: true })
    }

    /// A stack with servers of its own, for tests that kill them.
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

    /// Sets an environment variable of one service, over what the stack itself sets.
    #[must_use]
    pub fn variable(mut self, service: Service, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((service, name.to_owned(), value.into()));
        self
    }

    /// Runs another program as the service, that of another release perhaps. Its migrations make the service's tables.
    #[must_use]
    pub fn program(mut self, service: Service, program: &Path) -> Self {
        self.programs.insert(service, program.to_owned());
        self
    }

    /// Has someone told of processes that start and die.
    #[must_use]
    pub fn listener(mut self, listener: Listener) -> Self {
        self.listener = listener;
        self
    }

    /// Has someone told what is waited for.
    #[must_use]
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Leads every link through a port of the caller's, who can then slow it down or cut it.
    #[must_use]
    pub fn detour(mut self, detour: Detour) -> Self {
        self.detour = detour;
        self
    }
}
