//! The rollout and the rollback of one service, step by step, as platforms do it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use demo::eventually;
use local_stack::{Instance, Service, Stack, built_program};
use waybill_tests::PATIENCE;

use crate::balancer::{Balancer, Origins};
use crate::release::Release;

/// The time limit for a program to end after the stop signal.
const DRAIN_MAX: Duration = Duration::from_secs(25);
/// The previous release's program, which the stack runs, and the current program.
pub(crate) const FORMER: &str = "former";
pub(crate) const NEW: &str = "new";

pub(crate) struct Rollout<'a> {
    stack: &'a Stack,
    balancer: &'a Balancer,
    pub(crate) service: Service,
    new: Instance,
}

impl<'a> Rollout<'a> {
    /// Starts the new program next to the previous one, on its tables. If migrations are missing, it accepts no calls
    /// and touches no table.
    pub(crate) async fn begin(
        stack: &'a Stack,
        balancer: &'a Balancer,
        service: Service,
        release: &Release,
    ) -> anyhow::Result<Self> {
        let database = format!("{}?application_name={NEW}", stack.database_url(service));
        let mut new = stack
            .instance(service, &format!("{}-{NEW}", service.name()))?
            .program(&built_program(service.name())?)
            .variable("WAYBILL_DATABASE__URL", &database);
        new.start()?;
        let rollout = Self { stack, balancer, service, new };
        if release.lacks_migrations_of(service)? {
            rollout.new_waits_for_its_tables().await?;
        }
        Ok(rollout)
    }

    async fn new_waits_for_its_tables(&self) -> anyhow::Result<()> {
        self.balancer.join(NEW, Origins::of_instance(&self.new));
        says(self.new.log(), "these migrations have not been run").await?;
        self.balancer.has_served(FORMER).await?;
        assert_eq!(self.balancer.answered(NEW), 0, "it is not ready");
        // The last query of each of the program's connections.
        let asked = format!("SELECT DISTINCT query FROM pg_stat_activity WHERE application_name = '{NEW}'");
        let asked = self.stack.query(self.service, &asked).await?;
        let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename !~ '^__'";
        let tables = self.stack.query(self.service, tables).await?;
        for query in asked.lines() {
            let mentioned = tables.lines().chain(["LISTEN"]).find(|table| query.contains(table));
            ensure!(mentioned.is_none(), "the new program sent {query}");
        }
        self.balancer.leave(NEW).await
    }

    /// Runs the new migrations while the previous program works. The new program becomes ready automatically.
    pub(crate) async fn migrate(&self) -> anyhow::Result<()> {
        let migrated = self.new.run(&["migrate"]).await?;
        ensure!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stdout));
        self.new.ready().await.context("the new program becomes ready")
    }

    pub(crate) async fn former_continues(&self) -> anyhow::Result<()> {
        self.balancer.has_served(FORMER).await?;
        assert_eq!(self.balancer.answered(NEW), 0, "it gets no calls yet");
        Ok(())
    }

    /// Both programs serve.
    pub(crate) async fn new_joins(&self) -> anyhow::Result<()> {
        self.balancer.join(NEW, Origins::of_instance(&self.new));
        self.both_serve(NEW).await
    }

    pub(crate) async fn former_gets_no_calls(&self) -> anyhow::Result<()> {
        self.balancer.leave(FORMER).await
    }

    /// Stops new calls, then sends the signal. Afterwards the new program serves alone.
    pub(crate) async fn former_leaves(&self) -> anyhow::Result<()> {
        self.former_gets_no_calls().await?;
        let stopped_at = Instant::now();
        self.stack.stop(self.service).await?;
        self.ended_well(FORMER, stopped_at, &self.stack.log(self.service))?;
        self.balancer.has_served(NEW).await
    }

    pub(crate) async fn former_comes_back(&self) -> anyhow::Result<()> {
        self.stack.bring_up(self.service).await?;
        self.balancer.join_again(FORMER);
        self.both_serve(FORMER).await
    }

    /// As [`Rollout::former_leaves`]. Afterwards the previous program serves alone, on the new tables.
    pub(crate) async fn new_leaves(&self) -> anyhow::Result<()> {
        self.balancer.leave(NEW).await?;
        let stopped_at = Instant::now();
        self.new.stop().await?;
        self.ended_well(NEW, stopped_at, self.new.log())?;
        self.balancer.has_served(FORMER).await
    }

    /// The public origin of the new program, without the balancer.
    pub(crate) fn new_public_url(&self) -> String {
        self.new.public_url()
    }

    /// Runs the new program with these arguments until it ends.
    pub(crate) async fn run_new(&self, arguments: &[&str]) -> anyhow::Result<std::process::Output> {
        self.new.run(arguments).await
    }

    async fn both_serve(&self, who_joined: &'static str) -> anyhow::Result<()> {
        self.balancer.is_ready(who_joined).await?;
        tokio::try_join!(self.balancer.has_served(FORMER), self.balancer.has_served(NEW))?;
        Ok(())
    }

    /// Asserts that it ended on its own and was not killed.
    fn ended_well(&self, name: &str, stopped_at: Instant, log: &Path) -> anyhow::Result<()> {
        let (service, took) = (self.service.name(), stopped_at.elapsed());
        ensure!(took < DRAIN_MAX, "{name} {service} took {took:?} to end");
        let in_order = fs::read_to_string(log)?.contains(r#""message":"stopped""#);
        ensure!(in_order, "{name} {service} did not stop gracefully");
        eprintln!("{name} {service} ended {:.1} s after the signal", took.as_secs_f64());
        Ok(())
    }
}

/// Waits until the log contains this text.
pub(crate) async fn says(log: &Path, what: &str) -> anyhow::Result<()> {
    eventually(&format!("{what} in {}", log.display()), PATIENCE, || async {
        // The log appears with its first line.
        Ok(fs::read_to_string(log).unwrap_or_default().contains(what).then_some(()))
    })
    .await
}
