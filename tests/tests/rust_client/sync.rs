//! The sync record on PostgreSQL: one delivery, whatever happens to the processes of a shop.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};
use waybill_client::{
    ClientOptions, Database, Environment, NewOrder, OrderSync, Row, SqlSyncStore, SyncError, SyncOutcome,
    SyncStore, SystemEnvironment, TABLES, Waybill,
};

use crate::proxy::{Fault, FaultyProxy};
use crate::readme::Postgres;
use crate::shop::{TestShop, new_order, orders_and_debits};

const FEE: i64 = 4_900;
const PROCESSES: usize = 50;
/// The step at which the one process of a round dies that gets the claim.
const ROUNDS: [&str; 5] = ["after claim", "before created", "", "", ""];
const OUTCOMES: [&str; 5] = ["created", "recovered", "already_created", "in_progress", "failed"];
/// Added to the place of an outcome: other exit codes are those of failed tests.
const EXIT_CODE: usize = 10;

pub(crate) async fn database_with_tables() -> anyhow::Result<Postgres> {
    let url = test_kit::database_url().await;
    local_stack::query(&url, TABLES).await?;
    Ok(Postgres(url))
}

/// A process of a shop: what it reads from its standard input.
#[derive(Serialize, Deserialize)]
struct Task<'a> {
    database: &'a str,
    base_url: &'a str,
    key: &'a str,
    reference: &'a str,
    step: &'a str,
    minutes: i64,
}

#[tokio::test(flavor = "multi_thread")]
async fn one_delivery_although_processes_die() -> anyhow::Result<()> {
    let shop = TestShop::open().await?;
    let proxy = FaultyProxy::start(shop.business.order_api()).await?;
    let Postgres(database) = database_with_tables().await?;
    proxy.fail([Fault::CutBefore, Fault::CutAfter]);
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for (minutes, step) in (0..).step_by(2).zip(ROUNDS) {
        let (base_url, key) = (&proxy.base_url, &shop.live_key);
        let task = Task { database: &database, base_url, key, reference: "1001", step, minutes };
        for outcome in round(&serde_json::to_string(&task)?).await? {
            *outcomes.entry(outcome).or_default() += 1;
        }
    }
    let (orders, debits) = orders_and_debits(&shop.live()?, "1001").await?;
    assert_eq!((orders.len(), debits), (1, 1), "{outcomes:?}");
    let count = |outcome: &str| outcomes.get(outcome).copied().unwrap_or_default();
    assert_eq!((count("killed"), count("recovered"), count("created")), (2, 1, 0), "{outcomes:?}");
    assert!(count("already_created") >= 2 * PROCESSES / ROUNDS.len(), "{outcomes:?}");
    assert_eq!(outcomes.values().sum::<usize>(), PROCESSES, "{outcomes:?}");
    let seen: BTreeSet<_> = proxy.seen().into_iter().collect();
    assert_eq!(seen.len(), 1, "the same bytes and key");
    shop.stack.shut_down().await
}

/// The outcomes of processes that run at the same time.
async fn round(task: &str) -> anyhow::Result<Vec<String>> {
    let program = std::env::current_exe()?;
    let arguments = ["--exact", "sync::process_of_a_shop", "--ignored", "--nocapture"];
    let start = |_| -> anyhow::Result<Child> {
        let mut child = Command::new(&program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .context("another process")?;
        child.stdin.take().context("its input")?.write_all(task.as_bytes())?;
        Ok(child)
    };
    let children: Vec<Child> = (0..PROCESSES / ROUNDS.len()).map(start).collect::<Result<_, _>>()?;
    let ended = tokio::task::spawn_blocking(|| {
        let wait = |mut child: Child| Ok(outcome_of(child.wait()?));
        children.into_iter().map(wait).collect()
    });
    ended.await?
}

fn outcome_of(status: ExitStatus) -> String {
    let place = status.code().and_then(|code| usize::try_from(code).ok()?.checked_sub(EXIT_CODE));
    match place.and_then(|place| OUTCOMES.get(place)) {
        Some(outcome) => (*outcome).to_owned(),
        None if status.signal() == Some(9) => "killed".into(),
        None => status.to_string(),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process that the test above starts"]
async fn process_of_a_shop() -> anyhow::Result<()> {
    let input = std::io::read_to_string(std::io::stdin())?;
    let Task { database, base_url, key, reference, step, minutes } = serde_json::from_str(&input)?;
    let options = ClientOptions {
        attempt_timeout: Duration::from_secs(5),
        deadline: Duration::from_secs(20),
        // Leases end by the clock, so the rounds of the test need not wait.
        environment: Arc::new(Later(AtomicI64::new(minutes * 60_000))),
        ..ClientOptions::default()
    };
    let waybill = Waybill::new(key, base_url, options)?;
    let database = Deadly { database: Postgres(database.to_owned()), step: step.to_owned() };
    let store = SqlSyncStore::new(database, waybill.mode());
    let sync = OrderSync::new(waybill, store, "shop")?;
    let outcome = sync.ensure(reference, || async { Ok(new_order(reference, FEE)) }).await?;
    let place = OUTCOMES.iter().position(|known| *known == outcome.status()).context("an outcome")?;
    std::process::exit(i32::try_from(EXIT_CODE + place)?);
}

/// The clock of a machine that is ahead.
struct Later(AtomicI64);

impl Environment for Later {
    fn now_ms(&self) -> i64 {
        SystemEnvironment.now_ms() + self.0.load(Ordering::Relaxed)
    }

    fn jitter(&self) -> f64 {
        0.0
    }
}

/// Kills its process at a step.
struct Deadly {
    database: Postgres,
    step: String,
}

impl Database for Deadly {
    type Transaction = (tokio_postgres::Client, bool);
    type Error = anyhow::Error;

    async fn begin(&self) -> anyhow::Result<Self::Transaction> {
        Ok((self.database.begin().await?, false))
    }

    async fn rows(
        &self,
        (transaction, is_claim): &mut Self::Transaction,
        statement: &'static str,
        parameters: &[&str],
    ) -> anyhow::Result<Vec<Row>> {
        if self.step == "before created" && statement.contains("SET status = 'created'") {
            die()?;
        }
        let rows = self.database.rows(transaction, statement, parameters).await?;
        *is_claim |= !rows.is_empty() && statement.contains("INSERT INTO waybill_sync");
        Ok(rows)
    }

    async fn commit(&self, (transaction, is_claim): Self::Transaction) -> anyhow::Result<()> {
        self.database.commit(transaction).await?;
        if is_claim && self.step == "after claim" {
            die()?;
        }
        Ok(())
    }
}

fn die() -> anyhow::Result<()> {
    let id = std::process::id().to_string();
    Command::new("kill").args(["-KILL", &id]).status()?;
    anyhow::bail!("the process survived")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_decides_what_an_attempt_does() -> anyhow::Result<()> {
    let shop = TestShop::open().await?;
    let proxy = FaultyProxy::start(shop.business.order_api()).await?;
    let database = database_with_tables().await?;
    let clock = Arc::new(Later(AtomicI64::new(0)));
    let options = ClientOptions { environment: clock.clone(), attempts_max: 1, ..ClientOptions::default() };
    let test = Waybill::new(&shop.business.test_key, &proxy.base_url, options)?;
    let store = SqlSyncStore::new(database.clone(), test.mode());
    let sync = OrderSync::new(test.clone(), store.clone(), "shop")?;
    let ensure = async |id: &str, fee: i64| sync.ensure(id, || async { Ok(new_order(id, fee)) }).await;

    // A created delivery is returned without a call.
    let first = ensure("created", FEE).await?;
    let unneeded = || async { anyhow::Result::<NewOrder>::Err(anyhow!("no order is needed")) };
    let second = sync.ensure("created", unneeded).await?;
    assert_eq!((first.status(), second.status()), ("created", "already_created"));
    assert_eq!(first.delivery(), second.delivery());
    let record = store.get("created").await?.context("a record")?;
    assert_eq!(record.body, None, "the personal data is gone");
    assert!(!sync.has_changed("created", new_order("created", FEE)).await?);
    assert!(sync.has_changed("created", new_order("created", 5_000)).await?);
    // The other mode has a record of its own.
    let live = test.with_key(&shop.live_key)?;
    let other = OrderSync::new(live.clone(), SqlSyncStore::new(database, live.mode()), "shop")?;
    let outcome = other.ensure("created", || async { Ok(new_order("created", FEE)) }).await?;
    assert_eq!(outcome.status(), "created");

    // A delivery that exists under another key is recovered.
    let exists = test.orders.create(new_order("exists", FEE), "another-key").await?.order;
    let outcome = ensure("exists", FEE).await?;
    assert_eq!(outcome, SyncOutcome::Recovered(exists.into()));
    // The other key may have sent another body.
    assert!(sync.has_changed("exists", new_order("exists", FEE)).await?);

    // A key whose order is known is recovered after the record was lost, unless it is another order.
    let known = test.orders.create(new_order("edited", FEE), "shop-edited").await?.order;
    assert_eq!(ensure("edited", 5_000).await?, SyncOutcome::Recovered(known.into()));
    assert!(sync.has_changed("edited", new_order("edited", 5_000)).await?);
    test.orders.create(new_order("another", FEE), "shop-foreign").await?;
    let SyncOutcome::Failed { error, .. } = ensure("foreign", FEE).await? else {
        panic!("another order's key")
    };
    assert_eq!(error.code, "idempotency_key_reused");
    assert!(error.message.contains("another"), "{}", error.message);

    // A refused body is corrected, and any other is repeated.
    proxy.fail([]);
    let SyncOutcome::Failed { error, .. } = ensure("corrected", 0).await? else { panic!("a fee of 0") };
    assert_eq!(error.code, "invalid_request");
    proxy.fail([Fault::Status(401)]);
    assert_eq!(ensure("corrected", 5_000).await?.status(), "failed");
    assert_eq!(ensure("corrected", 6_000).await?.status(), "created");
    let is_first = |body: &[u8]| String::from_utf8_lossy(body).contains("\"deliveryFeePaise\":5000");
    assert!(proxy.seen().iter().all(|(body, _)| is_first(body)) && proxy.seen().len() == 2);

    // A lease keeps others away until it ends.
    let now = clock.now_ms();
    let claims =
        [store.claim("leased", "{}", now, now + 60_000).await?, store.claim("leased", "{}", now, now).await?];
    assert_eq!(claims.map(|claim| claim.map(|claim| claim.attempt)), [Some(1), None]);
    assert_eq!(ensure("leased", FEE).await?, SyncOutcome::InProgress);
    clock.0.fetch_add(60_000, Ordering::Relaxed);
    // The new attempt repeats the stored body, which this service refuses.
    assert_eq!(ensure("leased", FEE).await?.status(), "failed");
    let late = SyncError { code: "late".into(), message: "late".into() };
    assert!(!store.failed("leased", 1, &late, true, None).await?);
    assert_eq!(ensure("leased", FEE).await?.status(), "created");

    assert!(ensure("order 1\n", FEE).await.is_err() && store.get("order 1\n").await?.is_none());
    assert!(OrderSync::new(test.clone(), store, "shop")?.with_lease(test.deadline()).is_err());
    shop.stack.shut_down().await
}

#[tokio::test(flavor = "multi_thread")]
async fn open_orders_are_listed_and_those_that_are_due_are_repeated() -> anyhow::Result<()> {
    let shop = TestShop::open().await?;
    let proxy = FaultyProxy::start(shop.business.order_api()).await?;
    let clock = Arc::new(Later(AtomicI64::new(0)));
    let options = ClientOptions { environment: clock.clone(), attempts_max: 1, ..ClientOptions::default() };
    let test = Waybill::new(&shop.business.test_key, &proxy.base_url, options)?;
    let store = SqlSyncStore::new(database_with_tables().await?, test.mode());
    let sync = OrderSync::new(test.clone(), store, "shop")?;
    let ensure = async |id: &str, fee: i64| sync.ensure(id, || async { Ok(new_order(id, fee)) }).await;

    proxy.fail([Fault::CutBefore]);
    assert!(ensure("unreachable", FEE).await?.is_retryable());
    assert!(!ensure("refused", 0).await?.is_retryable());
    let open: BTreeSet<_> = sync.open(10).await?.into_iter().map(|open| open.local_order_id).collect();
    assert_eq!(open, ["refused", "unreachable"].map(str::to_owned).into());
    let (report, retried) = mpsc::channel();
    let retry = async || {
        let to_waybill = |id: String| async move { Ok(new_order(&id, FEE)) };
        let note = |id: &str, outcome: anyhow::Result<SyncOutcome>| {
            let status = outcome.map(|outcome| outcome.status()).unwrap_or("an error");
            report.send(format!("{id} {status}")).unwrap_or_default();
        };
        sync.retry_due(to_waybill, note).await
    };
    retry().await?;
    assert_eq!(retried.try_iter().next(), None, "nothing is due");
    clock.0.fetch_add(30_000, Ordering::Relaxed);
    retry().await?;
    assert_eq!(retried.try_iter().collect::<Vec<_>>(), ["unreachable created"]);

    // A delivery with another body is recovered only if wanted.
    test.orders.create(new_order("strict", FEE), "shop-strict").await?;
    let strict = sync.clone().with_recover_other_body(false);
    let refused = strict.ensure("strict", || async { Ok(new_order("strict", 5_000)) }).await?;
    assert_eq!(refused.status(), "failed");
    assert_eq!(ensure("strict", FEE).await?.status(), "recovered");
    shop.stack.shut_down().await
}
