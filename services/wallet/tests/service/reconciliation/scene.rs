//! A service with a fake order-api, a ledger that tests can corrupt, and the `reconcile` command.

use std::collections::BTreeSet;
use std::process::Command;

use domain::{BusinessId, OrderId, TransferId};
use test_kit::until;
use wallet::Settings;

use super::fake_orders::FakeOrders;
use crate::harness::Harness;

/// Removes the constraints that refuse inconsistent rows.
const DISARM: &str = "
    GRANT ALL ON wallets, transfers, entries, debits, cash, top_ups TO CURRENT_USER;
    ALTER TABLE wallets DISABLE TRIGGER USER;
    ALTER TABLE transfers DISABLE TRIGGER USER;
    ALTER TABLE entries DISABLE TRIGGER USER;
    ALTER TABLE debits DISABLE TRIGGER USER;
    ALTER TABLE cash DISABLE TRIGGER USER;
    ALTER TABLE top_ups DISABLE TRIGGER USER;
    ALTER TABLE entries DROP CONSTRAINT entries_transfer_id_fkey;
    ALTER TABLE transfers DROP CONSTRAINT transfers_reverses_fkey;
    ALTER TABLE top_ups DROP CONSTRAINT top_ups_transfer_id_fkey;
    DROP INDEX debits_one_posted_per_order, transfers_one_refund_per_order, transfers_one_credit_per_reference;
    CREATE INDEX ON transfers (order_id) WHERE kind = 'refund';";

pub(super) struct Scene {
    pub(super) harness: Harness,
    pub(super) orders: FakeOrders,
}

impl Scene {
    pub(super) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// Without scheduled runs, which would interfere with the test's changes: tests run the command instead.
    pub(super) async fn start_with(change: impl FnOnce(&mut Settings)) -> Self {
        let scene = Self::with_runs(change).await;
        // The first run starts soon after the service.
        let cancel = "UPDATE reconciliation_runs SET next_at = 'infinity' WHERE holder IS NULL OR completed_at IS NOT NULL";
        until("no run to be in progress or due", async || {
            scene.sql(cancel).await;
            scene.harness.number("SELECT count(*) FROM reconciliation_runs WHERE next_at = 'infinity'").await
                == 1
        })
        .await;
        scene
    }

    /// With one scheduled run per day.
    pub(super) async fn with_runs(change: impl FnOnce(&mut Settings)) -> Self {
        let orders = FakeOrders::start();
        let harness = Harness::start_with(|settings| {
            orders.settings(settings);
            settings.reconciliation.interval_seconds = 86_400;
            change(settings);
        })
        .await;
        Self { harness, orders }
    }

    /// A run that reads the tables at this moment may deadlock with this. PostgreSQL then rolls the whole script back.
    pub(super) async fn disarm(&self) {
        until("the constraints to be removed", async || match self.harness.script(DISARM).await {
            Ok(()) => true,
            Err(error) if error.contains("deadlock") => false,
            Err(error) => panic!("{DISARM}: {error}"),
        })
        .await;
    }

    pub(super) async fn sql(&self, script: &str) {
        self.harness.script(script).await.unwrap_or_else(|error| panic!("{script}: {error}"));
    }

    /// A placed order that has paid ₹1.
    pub(super) async fn paid_order(&self, business: BusinessId) -> OrderId {
        let order = self.harness.order();
        self.orders.place(order, business, 100, self.harness.clock.now());
        self.harness.debit(business, order, 1, 100).await.expect("a debit");
        order
    }

    /// The transfer of the order's fee.
    pub(super) async fn fee_of(&self, order: OrderId) -> String {
        #[derive(diesel::QueryableByName)]
        struct Row {
            #[diesel(sql_type = diesel::sql_types::Text)]
            id: String,
        }
        let sql = format!("SELECT id FROM transfers WHERE order_id = '{order}' AND kind = 'delivery_fee'");
        let mut conn = self.harness.connection().await;
        let row: Row =
            diesel_async::RunQueryDsl::get_result(diesel::sql_query(sql), &mut conn).await.expect("a fee");
        row.id
    }

    /// Posts a consistent transfer by SQL. `cause`: order, reference and reversed transfer.
    pub(super) async fn post(&self, business: BusinessId, kind: &str, cause: &str, paise: i64) -> TransferId {
        let id = TransferId::generate(&self.harness.clock, &self.harness.entropy);
        let other = match kind {
            "delivery_fee" => "fee_income",
            "refund" => "refunds",
            "top_up" => "top_up_clearing",
            "receivable_payment" => "business_receivable",
            _ => "operator_credits",
        };
        self.sql(&format!(
            "BEGIN;
            UPDATE wallets SET balance_paise = balance_paise + {paise}, entry_count = entry_count + 1
                WHERE business_id = '{business}';
            INSERT INTO entries
                SELECT '{id}', 'business_wallet', business_id, {paise}, entry_count, balance_paise, now()
                FROM wallets WHERE business_id = '{business}'
                UNION ALL SELECT '{id}', '{other}', '{business}', 0 - ({paise}), NULL, NULL, now();
            INSERT INTO transfers VALUES ('{id}', '{kind}', '{business}', {cause}, now());
            COMMIT"
        ))
        .await;
        id
    }

    /// Books cash by SQL.
    pub(super) async fn post_cash(&self, business: BusinessId, order: OrderId, kind: &str, paise: i64) {
        let id = TransferId::generate(&self.harness.clock, &self.harness.entropy);
        self.sql(&format!(
            "BEGIN;
            INSERT INTO entries VALUES ('{id}', 'cod_payable', '{business}', {paise}, NULL, NULL, now()),
                ('{id}', 'cod_with_drivers', '{business}', -{paise}, NULL, NULL, now());
            INSERT INTO transfers VALUES ('{id}', '{kind}', '{business}', '{order}', NULL, NULL, now());
            COMMIT"
        ))
        .await;
    }

    /// Runs the command and returns its exit code and output.
    pub(super) async fn run(&self, arguments: &[&str]) -> (i32, String) {
        let settings = &self.harness.settings;
        let mut command = Command::new(env!("CARGO_BIN_EXE_wallet"));
        command
            .arg("reconcile")
            .args(arguments)
            .env("WAYBILL_DATABASE__URL", settings.database.url.expose())
            .env("WAYBILL_BROKER__URL", settings.broker.url.expose())
            .env("WAYBILL_HTTP__INTERNAL", "127.0.0.1:0")
            .env("WAYBILL_HTTP__MANAGEMENT", "127.0.0.1:0")
            .env("WAYBILL_PEERS__ORDER_API", self.orders.url().as_str())
            .env("WAYBILL_RECONCILIATION__CHUNK_ROWS", settings.reconciliation.chunk_rows.to_string());
        // The fake order-api responds on this runtime.
        let output = tokio::task::spawn_blocking(move || command.output()).await;
        let output = output.expect("the task completes").expect("the program starts");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        (output.status.code().expect("it was not killed"), text)
    }

    /// The findings of the command, without patience, as `check subject`.
    pub(super) async fn findings(&self) -> BTreeSet<String> {
        let (code, text) = self.run(&["--patience", "0"]).await;
        let lines =
            text.lines().skip_while(|line| line.starts_with("checked from ") || line.starts_with("  "));
        let found: BTreeSet<String> =
            lines.filter_map(|line| line.split_once(": ")).map(|(found, _)| found.to_owned()).collect();
        assert_eq!(code, i32::from(!found.is_empty()), "{text}");
        let end = if found.is_empty() { "clean\n".to_owned() } else { format!("{} findings\n", found.len()) };
        assert!(text.ends_with(&end), "{text}");
        found
    }
}

/// Checks the new findings after each change of the ledger.
pub(super) struct Watch<'a> {
    scene: &'a Scene,
    known: BTreeSet<String>,
}

impl<'a> Watch<'a> {
    pub(super) async fn begin(scene: &'a Scene) -> Self {
        let known = scene.findings().await;
        assert_eq!(known, BTreeSet::new());
        Self { scene, known }
    }

    /// Expects exactly these new findings.
    pub(super) async fn expect(&mut self, what: &str, news: &[(&str, &dyn std::fmt::Display)]) {
        let found = self.scene.findings().await;
        let wanted: BTreeSet<String> =
            news.iter().map(|(check, subject)| format!("{check} {subject}")).collect();
        assert_eq!(self.known.difference(&found).collect::<Vec<_>>(), Vec::<&String>::new(), "{what}");
        assert_eq!(found.difference(&self.known).cloned().collect::<BTreeSet<_>>(), wanted, "{what}");
        self.known = found;
    }
}
