//! The roll-out of one service, and its roll-back, step by step, as a platform does them.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use demo::eventually;
use local_stack::{Instance, Service, Stack, built_program};
use waybill_tests::PATIENCE;

use crate::balancer::{Balancer, Origins};
use crate::release::Release;

/// Told to stop, a program must have ended by then.
const DRAIN_MAX: Duration = Duration::from_secs(25);
/// The program of the former release, which the stack runs, and that of now.
pub(crate) const FORMER: &str = "former";
pub(crate) const NEW: &str = "new";

pub(crate) struct Rollout<'a> {
    stack: &'a Stack,
    balancer: &'a Balancer,
    pub(crate) service: Service,
    new: Instance,
}

impl<'a> Rollout<'a> {
    /// Starts the new program next to the former one, on the former one's tables. Where it lacks migrations, it takes no calls
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
        // Each query is the last one of a connection that the program still has.
        let asked = format!("SELECT DISTINCT query FROM pg_stat_activity WHERE application_name = '{NEW}'");
        let asked = self.stack.query(self.service, &asked).await?;
        let tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename !~ '^__'";
        let tables = self.stack.query(self.service, tables).await?;
        for query in asked.lines() {
            let mentioned = tables.lines().chain(["LISTEN"]).find(|table| query.contains(table));
            ensure!(mentioned.is_none(), "the new program asked {query}");
        }
        self.balancer.leave(NEW).await
    }

    /// Runs the new migrations under the former program, which goes on; the new one becomes ready by itself.
    pub(crate) async fn migrate(&self) -> anyhow::Result<()> {
        let migrated = self.new.run(&["migrate"]).await?;
        ensure!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stdout));
        self.new.ready().await.context("the new program becomes ready by itself")
    }

    pub(crate) async fn former_goes_on(&self) -> anyhow::Result<()> {
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

    /// No new calls, then the signal. Afterwards the new program serves alone.
    pub(crate) async fn former_leaves(&self) -> anyhow::Result<()> {
        self.former_gets_no_calls().await?;
        let told = Instant::now();
        self.stack.stop(self.service).await?;
        self.ended_well(FORMER, told, &self.stack.log(self.service))?;
        self.balancer.has_served(NEW).await
    }

    pub(crate) async fn former_comes_back(&self) -> anyhow::Result<()> {
        self.stack.bring_up(self.service).await?;
        self.balancer.join_again(FORMER);
        self.both_serve(FORMER).await
    }

    /// As [`Rollout::former_leaves`]. Afterwards the former program serves alone, on the new tables.
    pub(crate) async fn new_leaves(&self) -> anyhow::Result<()> {
        self.balancer.leave(NEW).await?;
        let told = Instant::now();
        self.new.stop().await?;
        self.ended_well(NEW, told, self.new.log())?;
        self.balancer.has_served(FORMER).await
    }

    /// Runs the new program to its end with these arguments.
    pub(crate) async fn run_new(&self, arguments: &[&str]) -> anyhow::Result<std::process::Output> {
        self.new.run(arguments).await
    }

    async fn both_serve(&self, who_joined: &'static str) -> anyhow::Result<()> {
        self.balancer.is_ready(who_joined).await?;
        tokio::try_join!(self.balancer.has_served(FORMER), self.balancer.has_served(NEW))?;
        Ok(())
    }

    /// By itself, that is, and not by force.
    fn ended_well(&self, name: &str, told: Instant, log: &Path) -> anyhow::Result<()> {
        let (service, took) = (self.service.name(), told.elapsed());
        ensure!(took < DRAIN_MAX, "{name} {service} took {took:?} to end");
        let in_order = fs::read_to_string(log)?.contains(r#""message":"stopped""#);
        ensure!(in_order, "{name} {service} did not end in good order");
        eprintln!("{name} {service} ended {:.1} s after the signal", took.as_secs_f64());
        Ok(())
    }
}

/// Waits until the log has this text.
pub(crate) async fn says(log: &Path, what: &str) -> anyhow::Result<()> {
    eventually(&format!("{what} in {}", log.display()), PATIENCE, || async {
        // The file is there with its first line.
        Ok(fs::read_to_string(log).unwrap_or_default().contains(what).then_some(()))
    })
    .await
}
