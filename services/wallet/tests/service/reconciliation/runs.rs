//! Scheduled runs: they scan new rows and sweep the history, keep findings until they are resolved, and run on one
//! instance at a time.

use std::time::Duration;

use super::scene::Scene;
use test_kit::until;

async fn scene() -> Scene {
    Scene::with_runs(|settings| {
        settings.reconciliation.interval_seconds = 1;
        settings.reconciliation.chunk_rows = 2;
        settings.reconciliation.sweep_rows = 6;
    })
    .await
}

impl Scene {
    /// The time of the last completed run, in microseconds.
    async fn completed(&self) -> i64 {
        let sql =
            "SELECT coalesce(max(extract(epoch FROM completed_at) * 1000000), 0) FROM reconciliation_runs";
        self.harness.number(sql).await
    }

    /// Waits for two more completed runs: the second one began after this call.
    async fn two_runs(&self) {
        for _ in 0..2 {
            let before = self.completed().await;
            until("a run to be completed", async || self.completed().await > before).await;
        }
    }

    async fn open(&self, check: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM reconciliation_findings WHERE check_name = '{check}'");
        self.harness.number(&sql).await
    }

    async fn open_findings(&self) -> i64 {
        self.harness.number("SELECT count(*) FROM reconciliation_findings").await
    }
}

#[tokio::test]
async fn findings_stay_until_they_are_resolved() {
    let scene = scene().await;
    let business = scene.harness.funded(10_000).await;
    let order = scene.paid_order(business).await;
    scene.two_runs().await;
    assert_eq!(scene.open_findings().await, 0);

    scene.disarm().await;
    scene.sql(&format!("UPDATE wallets SET balance_paise = 1 WHERE business_id = '{business}'")).await;
    scene.orders.forget(order);
    until("both findings", async || scene.open_findings().await == 2).await;
    scene.two_runs().await;
    assert_eq!((scene.open("wallet_balance_wrong").await, scene.open("debit_without_order").await), (1, 1));

    scene.sql(&format!("UPDATE wallets SET balance_paise = 9900 WHERE business_id = '{business}'")).await;
    scene.orders.place(order, business, 100, scene.harness.clock.now());
    until("the findings to be gone", async || scene.open_findings().await == 0).await;
}

#[tokio::test]
async fn the_history_is_scanned_again() {
    let scene = scene().await;
    let business = scene.harness.funded(10_000).await;
    let mut orders = Vec::new();
    for _ in 0..10 {
        orders.push(scene.paid_order(business).await);
    }
    // A completed run stores the cursors of all feeds. `order_transfers` is never swept.
    until("a run to be completed", async || scene.completed().await > 0).await;
    let not_swept = "SELECT count(*) FROM reconciliation_cursors WHERE swept_at IS NULL";
    until("every other feed to be swept", async || scene.harness.number(not_swept).await == 1).await;
    assert_eq!(scene.open_findings().await, 0);

    // Moves the cursors of new rows to the end while another instance holds the lease.
    scene.sql("UPDATE reconciliation_runs SET holder = 'test', next_at = now() + interval '1 hour'").await;
    scene.disarm().await;
    scene.sql("UPDATE entries SET amount_paise = -7 WHERE account = 'operator_credits'").await;
    scene.orders.forget(orders[4]);
    scene.sql("UPDATE reconciliation_cursors SET recent = '~' WHERE feed <> 'orders'").await;
    scene.sql("UPDATE reconciliation_runs SET next_at = now()").await;
    until("both findings", async || {
        scene.open("transfer_unbalanced").await + scene.open("debit_without_order").await == 2
    })
    .await;
    assert_eq!(scene.open_findings().await, 2);
}

#[tokio::test]
async fn one_instance_runs() {
    let scene = scene().await;
    let _second = scene.harness.second_instance();
    let business = scene.harness.funded(10_000).await;
    for _ in 0..4 {
        scene.paid_order(business).await;
    }
    // A run takes longer than two seconds, after which each instance looks again.
    scene.orders.set_delay(Duration::from_millis(300));
    scene.two_runs().await;
    assert_eq!(scene.orders.concurrent_calls_max(), 1);
    assert_eq!(scene.open_findings().await, 0);

    // A run whose instance died is taken over when its lease expires.
    scene.orders.set_delay(Duration::ZERO);
    scene.sql("UPDATE reconciliation_runs SET holder = 'gone', next_at = now() + interval '1 second'").await;
    let before = scene.completed().await;
    until("a run to be completed", async || scene.completed().await > before).await;
    assert_eq!(
        scene.harness.number("SELECT count(*) FROM reconciliation_runs WHERE holder = 'gone'").await,
        0
    );
}

#[tokio::test]
async fn a_run_without_order_api_checks_the_ledger_and_is_incomplete() {
    let scene = scene().await;
    scene.orders.set_unavailable(true);
    let business = scene.harness.funded(10_000).await;
    scene.disarm().await;
    scene.sql(&format!("UPDATE wallets SET balance_paise = 1 WHERE business_id = '{business}'")).await;
    until("the finding", async || scene.open("wallet_balance_wrong").await == 1).await;
    assert_eq!(scene.completed().await, 0);
    scene.orders.set_unavailable(false);
    until("a run to be completed", async || scene.completed().await > 0).await;
    assert_eq!(scene.open_findings().await, 1);
}

#[tokio::test]
async fn a_failed_run_is_repeated_soon() {
    let scene = Scene::with_runs(|settings| settings.reconciliation.interval_seconds = 20).await;
    until("the first run to be completed", async || scene.completed().await > 0).await;
    let first = scene.completed().await;
    scene.orders.set_unavailable(true);
    scene.sql("UPDATE reconciliation_runs SET next_at = now()").await;
    // The lease of a run in progress ends later than this.
    let soon = "SELECT count(*) FROM reconciliation_runs
        WHERE next_at BETWEEN now() AND now() + interval '15 seconds'";
    until("the failed run to schedule the next one", async || scene.harness.number(soon).await == 1).await;

    scene.orders.set_unavailable(false);
    scene.sql("UPDATE reconciliation_runs SET next_at = now()").await;
    until("a run to be completed", async || scene.completed().await > first).await;
    // A lease ends later than this.
    let late = "SELECT count(*) FROM reconciliation_runs
        WHERE next_at BETWEEN now() + interval '15 seconds' AND now() + interval '20 seconds'";
    until("the next run to be after the interval", async || scene.harness.number(late).await == 1).await;
}
