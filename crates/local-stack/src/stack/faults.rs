//! Doing harm to a running stack, and waiting until it has recovered: for fault tests.

use std::path::PathBuf;

use anyhow::Context;
use rustix::process::Signal;

use super::Stack;
use super::services::RunningService;
use crate::part::{Part, Service};
use crate::supervised::Supervised;

impl Stack {
    /// The process that runs now.
    pub fn pid(&self, part: impl Into<Part>) -> Option<u32> {
        self.process(part.into()).ok()?.pid()
    }

    /// SIGKILL. Answers when the process is gone; the supervisor starts another a moment later.
    ///
    /// # Errors
    /// When it is not running, or is not this stack's own.
    pub async fn kill(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.kill().await
    }

    /// The signal that ends it without its work being finished, for PostgreSQL its immediate shutdown; the supervisor
    /// starts another a moment later.
    ///
    /// # Errors
    /// When it does not end, or is not this stack's own.
    pub async fn stop_at_once(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.stop_at_once().await
    }

    /// SIGKILL, and it stays down until [`Stack::bring_up`].
    ///
    /// # Errors
    /// When it does not end, or is not this stack's own.
    pub async fn kill_and_keep_down(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.kill_and_keep_down().await
    }

    /// Stops it in good order; it stays down until [`Stack::bring_up`].
    ///
    /// # Errors
    /// When it does not end, or is not this stack's own.
    pub async fn stop(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.stop().await
    }

    /// Starts it again and waits until it is ready.
    ///
    /// # Errors
    /// When it is not ready in time, or is not this stack's own.
    pub async fn bring_up(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        let part = part.into();
        self.process(part)?.bring_up();
        self.ready(part).await
    }

    /// Stops it in good order, starts it again, and waits until it is ready.
    ///
    /// # Errors
    /// When it is not ready in time, or is not this stack's own.
    pub async fn restart(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        let part = part.into();
        self.stop(part).await?;
        self.bring_up(part).await
    }

    /// SIGSTOP: it holds its connections and locks, and does nothing.
    ///
    /// # Errors
    /// When it is not running, or is not this stack's own.
    pub fn pause(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.signal(Signal::STOP)
    }

    /// SIGCONT, after a pause.
    ///
    /// # Errors
    /// When it is not running, or is not this stack's own.
    pub fn resume(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        self.process(part.into())?.signal(Signal::CONT)
    }

    /// Waits until one part is ready.
    ///
    /// # Errors
    /// When it is not within its time, with the end of its log.
    pub async fn ready(&self, part: impl Into<Part>) -> anyhow::Result<()> {
        match part.into() {
            Part::Postgres => self.postgres.as_ref().context(NOT_OURS)?.ready().await,
            Part::RabbitMq => self.rabbitmq.as_ref().context(NOT_OURS)?.ready().await,
            Part::Service(service) => self.service(service)?.ready().await,
        }
    }

    /// Waits until every service is ready; a service is so only when its servers are.
    ///
    /// # Errors
    /// When one is not within its time, with the end of its log.
    pub async fn wait_ready(&self) -> anyhow::Result<()> {
        for service in self.services.values() {
            service.ready().await?;
        }
        Ok(())
    }

    /// What a part has printed.
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

const NOT_OURS: &str = "the servers are shared with other tests; a stack for fault tests has its own";
