//! Injects faults into a running stack and waits for its recovery, for fault tests.

use std::path::PathBuf;

use anyhow::Context;
use rustix::process::Signal;

use super::Stack;
use super::services::RunningService;
use crate::part::{Part, Service};
use crate::supervised::Supervised;

impl Stack {
    /// The id of the running process.
    pub fn pid(&self, part: impl Into<Part>) -> Option<u32> {
        self.process(part.into()).ok()?.pid()
    }

    /// Sends SIGKILL and waits until the process is gone. The supervisor starts a new one a moment later.
    ///
    /// # Errors
    /// When it is not running, or is shared with other tests.
    pub async fn kill(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.kill().await
    }

    /// Stops the process without letting it finish its work, PostgreSQL by an immediate shutdown. The supervisor starts
    /// a new one a moment later.
    ///
    /// # Errors
    /// When it does not end, or is shared with other tests.
    pub async fn stop_at_once(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.stop_at_once().await
    }

    /// Sends SIGKILL. The process stays down until [`Stack::bring_up`].
    ///
    /// # Errors
    /// When it does not end, or is shared with other tests.
    pub async fn kill_and_keep_down(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.kill_and_keep_down().await
    }

    /// Stops the process gracefully. It stays down until [`Stack::bring_up`].
    ///
    /// # Errors
    /// When it does not end, or is shared with other tests.
    pub async fn stop(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.stop().await
    }

    /// Starts the process again and waits until it is ready.
    ///
    /// # Errors
    /// When it is not ready in time, or is shared with other tests.
    pub async fn bring_up(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        let part = part.into();
        self.process(part)?.bring_up();
        self.ready(part).await
    }

    /// Stops the process gracefully, starts it again, and waits until it is ready.
    ///
    /// # Errors
    /// When it is not ready in time, or is shared with other tests.
    pub async fn restart(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        let part = part.into();
        self.stop(part).await?;
        self.bring_up(part).await
    }

    /// Sends SIGSTOP: the process keeps its connections and locks but does nothing.
    ///
    /// # Errors
    /// When it is not running, or is shared with other tests.
    pub fn pause(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.signal(Signal::STOP)
    }

    /// Sends SIGCONT to end a pause.
    ///
    /// # Errors
    /// When it is not running, or is shared with other tests.
    pub fn resume(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.signal(Signal::CONT)
    }

    /// Waits until the part is ready.
    ///
    /// # Errors
    /// When it is not ready in time. The error shows the end of its log.
    pub async fn ready(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        match part.into() {
            Part::Postgres => self.postgres.as_ref().context(NOT_OURS)?.ready().await,
            Part::RabbitMq => self.rabbitmq.as_ref().context(NOT_OURS)?.ready().await,
            Part::Service(service) => self.service(service)?.ready().await,
        }
    }

    /// Waits until every service is ready, which requires its servers to be ready.
    ///
    /// # Errors
    /// When one is not ready in time. The error shows the end of its log.
    pub async fn wait_ready(&self) -> anyhow::Result<()> {
        for service in self.services.values() {
            service.ready().await?;
        }
        Ok(())
    }

    /// The log of a part.
    pub fn log(&self, part: impl Into<Part>) -> PathBuf {
        self.directory().join(format!("logs/{}.log", part.into().name()))
    }

    fn process(&self, part: Part) -> anyhow::Result<&Supervised> {
        Ok(match part {
            Part::Postgres => self.postgres.as_ref().context(NOT_OURS)?.server(),
            Part::RabbitMq => self.rabbitmq.as_ref().context(NOT_OURS)?.server(),
            Part::Service(service) => &self.service(service)?.process,
        })
    }

    fn service(&self, service: Service) -> anyhow::Result<&RunningService> {
        self.services.get(&service).map(AsRef::as_ref).context("the stack runs every service")
    }
}

const NOT_OURS: &str =
    "the servers are shared with other tests; use a stack for fault tests, which has its own";
