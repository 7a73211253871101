//! The worker: turns that find what is new and go through what is old, findings that stay until they are right again,
//! and one turn at a time.

use std::time::Duration;

use super::scene::Scene;
use test_kit::until;

async fn scene() -> Scene {
    Scene::with_turns(|settings| {
        settings.reconciliation.interval_seconds = 1;
        settings.reconciliation.chunk_rows = 2;
        settings.reconciliation.sweep_rows = 6;
    })
    .await
}

impl Scene {
    /// The moment of the last completed turn, in microseconds.
    async fn completed(&self) -> i64 {
        let sql =
            "SELECT coalesce(max(extract(epoch FROM completed_at) * 1000000), 0) FROM reconciliation_runs";
        self.harness.number(sql).await
    }

    /// Waits for the end of two more turns: one of them began after this.
    async fn two_turns(&self) {
        for _ in 0..2 {
            let before = self.completed().await;
            until("a turn to be completed", async || self.completed().await > before).await;
        }
    }

    async fn open(&self, check: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM reconciliation_findings WHERE check_name = '{check}'");
        self.harness.number(&sql).await
    }

    async fn open_in_all(&self) -> i64 {
        self.harness.number("SELECT count(*) FROM reconciliation_findings").await
    }
}

#[tokio::test]
async fn findings_stay_until_they_are_right_again() {
    let scene = scene().await;
    let business = scene.harness.funded(10_000).await;
    let order = scene.paid_order(business).await;
    scene.two_turns().await;
    assert_eq!(scene.open_in_all().await, 0);

    scene.disarm().await;
    scene.sql(&format!("UPDATE wallets SET balance_paise = 1 WHERE business_id = '{business}'")).await;
    scene.orders.forget(order);
    until("both findings", async || scene.open_in_all().await == 2).await;
    scene.two_turns().await;
    assert_eq!((scene.open("wallet_balance_wrong").await, scene.open("debit_without_order").await), (1, 1));

    scene.sql(&format!("UPDATE wallets SET balance_paise = 9900 WHERE business_id = '{business}'")).await;
    scene.orders.place(order, business, 100, scene.harness.clock.now());
    until("the findings to be gone", async || scene.open_in_all().await == 0).await;
}

#[tokio::test]
async fn what_is_old_is_proven_again() {
    let scene = scene().await;
    let business = scene.harness.funded(10_000).await;
    let mut orders = Vec::new();
    for _ in 0..10 {
        orders.push(scene.paid_order(business).await);
    }
    let swept = "SELECT count(*) FROM reconciliation_cursors WHERE swept_at IS NOT NULL";
    until("every feed to be swept", async || scene.harness.number(swept).await == 8).await;
    assert_eq!(scene.open_in_all().await, 0);

    // From now on nothing of this counts as new: another instance has the turn, then this one again.
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
    assert_eq!(scene.open_in_all().await, 2);
}

#[tokio::test]
async fn one_instance_takes_the_turn() {
    let scene = scene().await;
    let _second = scene.harness.second_instance();
    let business = scene.harness.funded(10_000).await;
    for _ in 0..4 {
        scene.paid_order(business).await;
    }
    scene.orders.be_slow(Duration::from_millis(200));
    for _ in 0..3 {
        scene.two_turns().await;
    }
    assert_eq!(scene.orders.askers_max(), 1);
    assert_eq!(scene.open_in_all().await, 0);

    // A turn that another instance has, which died with it, is taken over when its time is up.
    scene.sql("UPDATE reconciliation_runs SET holder = 'gone', next_at = now() + interval '4 seconds'").await;
    scene.two_turns().await;
    assert_eq!(
        scene.harness.number("SELECT count(*) FROM reconciliation_runs WHERE holder = 'gone'").await,
        0
    );
}

#[tokio::test]
async fn a_turn_without_order_api_proves_the_books_and_is_not_completed() {
    let scene = scene().await;
    scene.orders.be_away(true);
    let business = scene.harness.funded(10_000).await;
    scene.disarm().await;
    scene.sql(&format!("UPDATE wallets SET balance_paise = 1 WHERE business_id = '{business}'")).await;
    until("the finding", async || scene.open("wallet_balance_wrong").await == 1).await;
    assert_eq!(scene.completed().await, 0);
    scene.orders.be_away(false);
    until("a turn to be completed", async || scene.completed().await > 0).await;
    assert_eq!(scene.open_in_all().await, 1);
}

#[tokio::test]
async fn a_failed_turn_is_followed_by_one_soon_and_not_after_the_whole_interval() {
    let scene = Scene::with_turns(|_| {}).await;
    until("the first turn to be completed", async || scene.completed().await > 0).await;
    let first = scene.completed().await;
    scene.orders.be_away(true);
    scene.sql("UPDATE reconciliation_runs SET next_at = now()").await;
    // While a turn runs, its lease ends later than this.
    let soon = "SELECT count(*) FROM reconciliation_runs
        WHERE next_at BETWEEN now() AND now() + interval '15 seconds'";
    until("the failed turn to set the time of the next one", async || scene.harness.number(soon).await == 1)
        .await;

    scene.orders.be_away(false);
    scene.sql("UPDATE reconciliation_runs SET next_at = now()").await;
    until("a turn to be completed", async || scene.completed().await > first).await;
    let late = "SELECT count(*) FROM reconciliation_runs WHERE next_at > now() + interval '1 hour'";
    until("the next turn to be after the interval", async || scene.harness.number(late).await == 1).await;
}
