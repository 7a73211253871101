//! The sync record on PostgreSQL. `tests/shops` kills and repeats whole processes of a shop that uses it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, mpsc};

use anyhow::{Context, anyhow};
use waybill_client::{
    ClientOptions, Environment, NewOrder, OrderSync, SqlSyncStore, SyncError, SyncOutcome, SyncStore,
    SystemEnvironment, TABLES, Waybill,
};

use crate::proxy::{Fault, FaultyProxy};
use crate::readme::Postgres;
use crate::shop::{TestShop, new_order};

const FEE: i64 = 4_900;

pub(crate) async fn database_with_tables() -> anyhow::Result<Postgres> {
    let url = test_kit::database_url().await;
    local_stack::query(&url, TABLES).await?;
    Ok(Postgres(url))
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
