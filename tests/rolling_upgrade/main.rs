//! A roll-out and a roll-back of order-api while orders flow, with no failed call: the program of the former release on the new
//! tables, the new one on the old tables, and both side by side. `make test-upgrade` builds the former program and runs this.

mod balancer;
mod traffic;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use demo::eventually;
use local_stack::{Instance, Servers, Service, Stack, StackOptions, built_program, query};
use reference_shop::ReceivedWebhook;
use waybill_tests::{Business, Gate, PATIENCE, kinds, smallest_order, text, wait_until_quiet};

use balancer::{Balancer, Origins};
use traffic::{Placed, Traffic};

/// Told to stop, a program must have ended by then.
const DRAIN_MAX: Duration = Duration::from_secs(25);
/// Calls of each kind that a state of the roll-out must outlast.
const CALLS: u64 = 12;
/// The program of the former release, and that of now.
const FORMER: &str = "former";
const NEW: &str = "new";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn order_api_is_rolled_out_and_back_while_orders_flow() -> anyhow::Result<()> {
    let balancer = Balancer::start()?;
    let stack = stack_with_the_former_program(&balancer).await?;
    balancer.join(FORMER, origins_of_stack(&stack));
    balancer.is_ready(FORMER).await?;
    let mut business = Business::sign_up_at(&stack, balancer.order_api()).await?;
    business.go_live(1_000_000_000).await?;

    let mut traffic = Traffic::start(&business)?;
    balancer.has_served(FORMER, CALLS).await?;
    let mut new = the_new_program_waits(&stack, &balancer).await.context("old tables")?;
    the_former_program_goes_on(&balancer, &new).await.context("new tables")?;
    both_serve(&balancer).await.context("both")?;
    traffic.flows().await?;
    the_former_program_leaves(&stack, &balancer, &business).await.context("the former leaves")?;
    the_former_program_comes_back(&stack, &balancer, &mut new).await.context("roll-back")?;
    traffic.flows().await?;

    let placed = traffic.end().await?;
    assert_eq!(balancer.failures(), Vec::<String>::new());
    wait_until_quiet(&stack).await?;
    orders_are_there_once(&stack, &business, &placed).await?;
    webhooks_came_in_order(&business, &placed).await?;
    stack.shut_down().await
}

/// The other services are those of now, and find order-api where the balancer is.
async fn stack_with_the_former_program(balancer: &Balancer) -> anyhow::Result<Stack> {
    let directory = Stack::test_directory()?;
    let internal = balancer.internal_port();
    let options = StackOptions::on_test_servers(&directory, Servers::for_tests().await?)
        .program(Service::OrderApi, &former_program()?)
        .detour(Arc::new(move |link, port| {
            Ok(if link.to == Service::OrderApi.into() { internal } else { port })
        }));
    Stack::start_for_test(options).await
}

/// Where `tests/releases/build-former.sh` puts it.
fn former_program() -> anyhow::Result<PathBuf> {
    let releases = Path::new(env!("CARGO_MANIFEST_DIR")).join("releases");
    let latest = fs::read_dir(&releases)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .max()
        .context("no release is kept")?;
    let commit = fs::read_to_string(releases.join(format!("{latest}/commit")))?;
    let built = built_program(Service::OrderApi.name())?;
    let target = built.ancestors().nth(2).context("programs are in a target folder")?;
    let program = target.join("former").join(commit.trim()).join(Service::OrderApi.name());
    ensure!(program.is_file(), "{} is not built; `make test-upgrade` does it", program.display());
    Ok(program)
}

fn origins_of_stack(stack: &Stack) -> Origins {
    Origins {
        public: stack.order_api_origin(),
        internal: stack.internal_url(Service::OrderApi),
        management: stack.management_url(Service::OrderApi),
    }
}

/// Beside the former program, on its tables: the new one takes no calls and touches nothing.
async fn the_new_program_waits(stack: &Stack, balancer: &Balancer) -> anyhow::Result<Instance> {
    let database = format!("{}?application_name={NEW}", stack.database_url(Service::OrderApi));
    let mut new = stack
        .instance(Service::OrderApi, "order-api-new")?
        .program(&built_program(Service::OrderApi.name())?)
        .variable("WAYBILL_DATABASE__URL", &database);
    new.start()?;
    let origins =
        Origins { public: new.public_url(), internal: new.internal_url(), management: new.management_url() };
    balancer.join(NEW, origins);
    says(new.log(), "these migrations have not been run").await?;
    balancer.has_served(FORMER, CALLS).await?;
    assert_eq!(balancer.answered(NEW), 0, "it is not ready");
    // Whatever it ever asked on a connection that it still has.
    let asked = format!("SELECT DISTINCT query FROM pg_stat_activity WHERE application_name = '{NEW}'");
    let asked = stack.query(Service::OrderApi, &asked).await?;
    for query in asked.lines().filter(|query| !query.is_empty()) {
        ensure!(!MENTIONED.iter().any(|table| query.contains(table)), "the new program asked {query}");
    }
    Ok(new)
}

/// Tables and wake-up calls that a program at work would name.
const MENTIONED: [&str; 7] =
    ["orders", "order_events", "outbox", "inbox", "simulations", "testers", "LISTEN"];

/// The tables change under the former program, and it goes on.
async fn the_former_program_goes_on(balancer: &Balancer, new: &Instance) -> anyhow::Result<()> {
    // So that what follows is the former program's alone.
    balancer.leave(NEW).await?;
    let migrated = new.run(&["migrate"]).await?;
    ensure!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stdout));
    new.ready().await.context("it goes on by itself")?;
    balancer.has_served(FORMER, CALLS).await?;
    assert_eq!(balancer.answered(NEW), 0, "it had left");
    Ok(())
}

async fn both_serve(balancer: &Balancer) -> anyhow::Result<()> {
    balancer.join_again(NEW);
    balancer.is_ready(NEW).await?;
    let (former, new) = tokio::join!(balancer.has_served(FORMER, CALLS), balancer.has_served(NEW, CALLS));
    former.and(new)
}

/// As a platform does it: no new calls, then the signal. What it still holds is answered.
async fn the_former_program_leaves(
    stack: &Stack,
    balancer: &Balancer,
    business: &Business,
) -> anyhow::Result<()> {
    balancer.leave(FORMER).await?;
    let reference = "held-1";
    let held = format!("NEW.order_reference = '{reference}'");
    let gate = Gate::close(stack, Service::OrderApi, "orders", "INSERT", &held).await?;
    let direct = demo::clients::Integration::new(&stack.order_api(), &business.test_key)?;
    let asking = tokio::spawn(async move { direct.create("key-held-1", &smallest_order(reference)).await });
    gate.reached().await?;

    let told = Instant::now();
    let stopping = async {
        stack.stop(Service::OrderApi).await?;
        anyhow::Ok(told.elapsed())
    };
    let answering = async {
        says(&stack.log(Service::OrderApi), r#""message":"stopping""#).await?;
        ensure!(!asking.is_finished(), "it waits at the gate");
        gate.open().await?;
        text(&asking.await??.expect(201)?, "id")
    };
    let (took, answered) = tokio::join!(stopping, answering);
    answered.context("what it held")?;
    ended_well(took?, &stack.log(Service::OrderApi))?;
    balancer.has_served(NEW, CALLS).await
}

/// At three in the morning.
async fn the_former_program_comes_back(
    stack: &Stack,
    balancer: &Balancer,
    new: &mut Instance,
) -> anyhow::Result<()> {
    stack.bring_up(Service::OrderApi).await?;
    balancer.join_again(FORMER);
    balancer.is_ready(FORMER).await?;
    let (former, both) = tokio::join!(balancer.has_served(FORMER, CALLS), balancer.has_served(NEW, CALLS));
    former.and(both)?;
    balancer.leave(NEW).await?;
    let told = Instant::now();
    new.stop().await?;
    ended_well(told.elapsed(), new.log())?;
    balancer.has_served(FORMER, CALLS).await
}

/// By itself, that is, and not by force.
fn ended_well(took: Duration, log: &Path) -> anyhow::Result<()> {
    ensure!(took < DRAIN_MAX, "it took {took:?}");
    ensure!(fs::read_to_string(log)?.contains(r#""message":"stopped""#), "it did not end in good order");
    eprintln!("ended {:.1} s after the signal", took.as_secs_f64());
    Ok(())
}

async fn says(log: &Path, what: &str) -> anyhow::Result<()> {
    eventually(&format!("{what} in {}", log.display()), PATIENCE, || async {
        // It is there with the first line.
        Ok(fs::read_to_string(log).unwrap_or_default().contains(what).then_some(()))
    })
    .await
}

/// Every order that was accepted, exactly once, and each live one paid once.
async fn orders_are_there_once(stack: &Stack, business: &Business, placed: &[Placed]) -> anyhow::Result<()> {
    let rows = stack
        .query(Service::OrderApi, "SELECT id FROM orders WHERE placement = 'placed' ORDER BY id")
        .await?;
    let rows: Vec<&str> = rows.lines().collect();
    let mut known: Vec<&str> = placed.iter().map(|order| order.id.as_str()).collect();
    known.sort_unstable();
    // Beside those of the traffic: the first test order, and the one that was held.
    let others = format!(
        "SELECT id FROM orders WHERE order_reference IN ('first-test-order', 'held-1') AND business_id = '{}'",
        business.portal.business_id
    );
    let others = stack.query(Service::OrderApi, &others).await?;
    known.extend(others.lines());
    known.sort_unstable();
    assert_eq!(rows, known);
    eprintln!("{} orders, {} of them live", rows.len(), placed.iter().filter(|order| order.is_live).count());

    let mut live: Vec<&str> =
        placed.iter().filter(|order| order.is_live).map(|order| order.id.as_str()).collect();
    live.sort_unstable();
    let debits = "SELECT order_id FROM debits WHERE outcome = 'posted' ORDER BY order_id";
    let debits = query(stack.database_url(Service::Wallet), debits).await?;
    assert_eq!(debits.lines().collect::<Vec<_>>(), live);
    Ok(())
}

/// Every event of every order, in its order.
async fn webhooks_came_in_order(business: &Business, placed: &[Placed]) -> anyhow::Result<()> {
    let expected: usize = placed.iter().map(|order| order.events.len()).sum();
    let mut of_order: BTreeMap<String, Vec<ReceivedWebhook>> = BTreeMap::new();
    let (mut after, mut received) = (0, 0);
    while received < expected {
        let page = eventually("webhooks", PATIENCE, || async {
            let page = business.shop.received(after, 1_000).await?;
            Ok((!page.is_empty()).then_some(page))
        })
        .await
        .with_context(|| format!("{received} of {expected} came"))?;
        for webhook in page {
            after = webhook.arrival;
            let reference = webhook.order_reference.clone().unwrap_or_default();
            received += usize::from(reference.starts_with("live-") || reference.starts_with("test-"));
            of_order.entry(reference).or_default().push(webhook);
        }
    }
    eprintln!("{received} webhooks");
    for order in placed {
        let webhooks = of_order.get(&order.reference).map(Vec::as_slice).unwrap_or_default();
        assert_eq!(kinds(webhooks), order.events, "{}", order.reference);
        waybill_tests::assert_in_order(webhooks);
    }
    Ok(())
}
