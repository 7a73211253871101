//! Reconciliation: verifies SPECIFICATION §14.1-2 for the stored rows. It scans the ledger by ranges of ids, and compares it
//! with the orders of order-api.
//!
//! It locks nothing. Each check within the ledger is one statement, hence sees one consistent state. The services have no
//! common state, so a discrepancy between them is checked again before it counts, and steps under way may take their time.

mod feed;
mod findings;
mod history;
mod metrics;
mod open_findings;
mod report;
mod run;
mod scanner;
mod schedule;

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::Clock;
use internal_api::orders::OrdersClient;
use postgres::Database;
use reconciliation::Report;

use scanner::Scanner;

pub(crate) use metrics::publish_counters;
pub(crate) use run::{RunError, Schedule};

pub(crate) struct Reconciler {
    scanner: Scanner,
}

impl Reconciler {
    /// `chunk_rows`: rows per transaction, and orders per call of order-api.
    pub(crate) fn new(database: Database, clock: Clock, orders: OrdersClient, chunk_rows: u16) -> Self {
        Self { scanner: Scanner { database, orders, clock, chunk_rows } }
    }

    /// Checks the whole history, or the part since a time. Writes nothing.
    pub(crate) async fn check_history(&self, since: Option<DateTime<Utc>>, patience: Duration) -> Report {
        history::check(&self.scanner, since, patience).await
    }

    /// Runs if a run is due and no other instance has claimed it. Publishes the metrics of the last run in any case.
    ///
    /// # Errors
    /// When the run is incomplete. The next one continues where it ended.
    pub(crate) async fn run_if_due(&self, schedule: &Schedule) -> Result<(), RunError> {
        schedule::run_if_due(&self.scanner, schedule).await
    }
}
