//! A rollout and a rollback of all five services under traffic, without a failed call: the previous release's programs
//! on the new tables, the new programs on the old tables, and both together, each service with the previous and the new
//! program of every other one. `make test-upgrade` builds the previous programs and runs this.

mod backlog;
mod balancer;
mod calls;
mod failures;
mod feed;
mod locks;
mod release;
mod rollout;
mod traffic;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use demo::clients::Integration;
use futures_util::future::try_join_all;
use local_stack::{Part, Servers, Service, Stack, StackOptions};
use waybill_tests::{Business, Gate, smallest_order, text};

use backlog::{Backlog, Phase};
use balancer::{Balancer, Origins};
use failures::Failures;
use feed::FeedReader;
use release::Release;
use rollout::{FORMER, Rollout, says};
use traffic::Traffic;

/// The business's first top-up.
const FUNDS: i64 = 1_000_000_000;
/// The order that order-api is still placing when it receives the stop signal.
const HELD: &str = "held-1";

type Balancers = BTreeMap<Service, Balancer>;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn services_are_rolled_out_and_back_under_load() -> anyhow::Result<()> {
    let failures = Failures::default();
    let release = Release::latest()?;
    let balancers = balancers(&failures)?;
    let stack = stack_of_former_programs(&release, &balancers).await?;
    // A panic keeps the logs of the stack; an error does not.
    if let Err(error) = roll_out_and_back(&stack, &balancers, &release, &failures).await {
        panic!("{error:?}");
    }
    stack.shut_down().await
}

async fn roll_out_and_back(
    stack: &Stack,
    balancers: &Balancers,
    release: &Release,
    failures: &Failures,
) -> anyhow::Result<()> {
    for (service, balancer) in balancers {
        balancer.join(FORMER, Origins::of_stack(stack, *service));
        balancer.is_ready(FORMER).await?;
    }
    let portal_api = balancers[&Service::PortalApi].public_origin();
    let order_api = format!("{}/v1", balancers[&Service::OrderApi].public_origin());
    let backlog = Backlog::create(stack, &portal_api, &order_api).await.context("the backlog")?;
    let mut business = Business::sign_up_at(stack, order_api, &portal_api).await?;
    business.go_live(FUNDS).await?;

    let traffic = Traffic::start(&business, &portal_api, failures).await?;
    let rollouts = begin(stack, balancers, release, &backlog).await?;
    let order_api = rollouts.iter().find(|rollout| rollout.service == Service::OrderApi);
    let order_api = order_api.context("order-api is rolled out")?.new_public_url();
    let reader = FeedReader::start(&business, &order_api)?;
    out(stack, &business, &rollouts, &backlog).await?;
    reader.end(stack, &business).await?;
    backlog.resume(Phase::New).await?;
    backlog.arrives(Phase::New).await?;
    back(&rollouts, &backlog).await?;
    backlog.resume(Phase::Former).await?;
    backlog.arrives(Phase::Former).await?;
    let record = traffic.end().await;
    failures.are_none()?;
    verify::all(stack, &business, &rollouts, &record).await?;
    backlog.verify(stack).await.context("the backlog")?;
    failures.are_none()
}

fn balancers(failures: &Failures) -> anyhow::Result<Balancers> {
    Service::ALL.into_iter().map(|service| Ok((service, Balancer::start(service, failures)?))).collect()
}

/// Services call each other through the balancers.
async fn stack_of_former_programs(release: &Release, balancers: &Balancers) -> anyhow::Result<Stack> {
    let directory = Stack::test_directory()?;
    let ports: BTreeMap<Part, u16> =
        balancers.iter().map(|(service, balancer)| ((*service).into(), balancer.internal_port())).collect();
    let mut options = StackOptions::on_test_servers(&directory, Servers::for_tests().await?)
        .detour(Arc::new(move |link, port| Ok(ports.get(&link.to).copied().unwrap_or(port))));
    for service in Service::ALL {
        options = options.program(service, &release.program(service)?);
    }
    Stack::start_for_test(options).await
}

/// Starts the new programs next to the previous ones, and migrates all tables under the previous ones.
async fn begin<'a>(
    stack: &'a Stack,
    balancers: &'a Balancers,
    release: &Release,
    backlog: &Backlog,
) -> anyhow::Result<Vec<Rollout<'a>>> {
    let alone = try_join_all(balancers.values().map(|balancer| balancer.has_served(FORMER))).await;
    alone.context("the former programs alone")?;
    eprintln!("the previous programs serve");
    let rollouts =
        balancers.iter().map(|(service, balancer)| Rollout::begin(stack, balancer, *service, release));
    let rollouts = try_join_all(rollouts).await.context("old tables")?;
    eprintln!("the new programs wait for their tables");
    backlog.resume(Phase::Migration).await?;
    tokio::select! {
        migrated = migrate(&rollouts) => migrated?,
        locked = locks::are_short(stack) => locked?,
    }
    try_join_all(rollouts.iter().map(Rollout::former_continues)).await.context("new tables")?;
    eprintln!("the previous programs serve on the new tables");
    backlog.arrives(Phase::Migration).await?;
    Ok(rollouts)
}

async fn migrate(rollouts: &[Rollout<'_>]) -> anyhow::Result<()> {
    for rollout in rollouts {
        let (began, name) = (Instant::now(), rollout.service.name());
        rollout.migrate().await.with_context(|| format!("migrating {name}"))?;
        eprintln!("{name} was migrated in {:.1} s", began.elapsed().as_secs_f64());
    }
    Ok(())
}

async fn out(
    stack: &Stack,
    business: &Business,
    rollouts: &[Rollout<'_>],
    backlog: &Backlog,
) -> anyhow::Result<()> {
    for rollout in rollouts {
        let began = Instant::now();
        let name = rollout.service.name();
        rollout.new_joins().await.with_context(|| format!("both {name}"))?;
        let sends = rollout.service == Service::WebhookDispatcher;
        if sends {
            backlog.resume(Phase::Rollout).await?;
        }
        let left = if rollout.service == Service::OrderApi {
            former_order_api_leaves(stack, business, rollout).await
        } else {
            rollout.former_leaves().await
        };
        left.with_context(|| format!("the former {name} leaves"))?;
        if sends {
            backlog.arrives(Phase::Rollout).await?;
        }
        eprintln!("{name} was rolled out in {:.1} s", began.elapsed().as_secs_f64());
    }
    Ok(())
}

/// In the same order, so that each pair of services also runs in the opposite combination: the previous program of the
/// first with the new program of the second.
async fn back(rollouts: &[Rollout<'_>], backlog: &Backlog) -> anyhow::Result<()> {
    for rollout in rollouts {
        let began = Instant::now();
        let name = rollout.service.name();
        rollout.former_comes_back().await.with_context(|| format!("the former {name} comes back"))?;
        let sends = rollout.service == Service::WebhookDispatcher;
        if sends {
            backlog.resume(Phase::Rollback).await?;
        }
        rollout.new_leaves().await.with_context(|| format!("the new {name} leaves"))?;
        if sends {
            backlog.arrives(Phase::Rollback).await?;
        }
        eprintln!("{name} was rolled back in {:.1} s", began.elapsed().as_secs_f64());
    }
    Ok(())
}

/// It answers the call in progress when it receives the stop signal.
async fn former_order_api_leaves(
    stack: &Stack,
    business: &Business,
    rollout: &Rollout<'_>,
) -> anyhow::Result<()> {
    // Otherwise other calls would wait for the held order, and the balancer would wait for those calls.
    rollout.former_gets_no_calls().await?;
    let held = format!("NEW.order_reference = '{HELD}'");
    let gate = Gate::close(stack.database_url(Service::OrderApi), "orders", "INSERT", &held).await;
    let direct = Integration::new(&stack.order_api(), &business.test_key)?;
    let asking = tokio::spawn(async move { direct.create("key-held-1", &smallest_order(HELD)).await });
    gate.reached().await;
    let answering = async {
        says(&stack.log(Service::OrderApi), r#""message":"stopping""#).await?;
        ensure!(!asking.is_finished(), "the call waits at the gate");
        gate.open().await;
        text(&asking.await??.expect(201)?, "id")
    };
    let (left, answered) = tokio::join!(rollout.former_leaves(), answering);
    answered.context("the call that it held")?;
    left
}
