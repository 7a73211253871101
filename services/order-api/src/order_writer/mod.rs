//! Writes new orders and placements in shared transactions: requests that arrive at the same time share a commit.

mod batches;

use domain::Mode;
use outbox::Unit;
use postgres::{Batcher, BatcherOptions, StoreError};
use telemetry::TraceContext;

pub use batches::{Insert, InsertBatch, InsertOutcome, PlaceBatch, PlacePaid};

use crate::cache::FirstTestOrderCache;
use crate::domain::{ExistingOrder, NewOrder, Placement, json_size};
use crate::order_events::OrderEvents;

/// The details of a large order.
const LARGE_BYTES: usize = 16 * 1024;
/// Large orders have batches of their own, which are small: others' orders do not wait for them, and nothing else happens on
/// this thread while a batch is written.
const LARGE_AT_ONCE: usize = 4;

/// The names of the batchers label the metrics of write batches.
pub struct OrderWriter {
    inserts: Batcher<Insert, InsertOutcome>,
    large_inserts: Batcher<Insert, InsertOutcome>,
    placements: Batcher<PlacePaid, ()>,
    first_test_orders: FirstTestOrderCache,
}

impl OrderWriter {
    pub fn start(unit: &Unit, events: &OrderEvents) -> Self {
        let first_test_orders = FirstTestOrderCache::default();
        let (database, options) = (unit.database.clone(), BatcherOptions::default());
        let insert = || InsertBatch::new(unit, events.clone(), first_test_orders.clone());
        let few = BatcherOptions { batch_max: LARGE_AT_ONCE, ..options };
        let place = PlaceBatch::new(unit.clock.clone(), events.clone());
        Self {
            inserts: Batcher::start("order_intents", database.clone(), options, insert()),
            large_inserts: Batcher::start("large_order_intents", database.clone(), few, insert()),
            placements: Batcher::start("order_payments", database, options, place),
            first_test_orders,
        }
    }

    /// Stores a new order: a test order is placed, a live order waits for its payment.
    pub async fn insert(&self, order: NewOrder) -> Result<InsertOutcome, StoreError> {
        let (business, mode) = (order.business_id, order.mode);
        let is_large = json_size(&order.details) > LARGE_BYTES;
        let inserts = if is_large { &self.large_inserts } else { &self.inserts };
        let insert = Insert { order, placement: Placement::of_new(mode), trace: TraceContext::current() };
        let outcome = inserts.submit(insert).await?;
        if outcome == InsertOutcome::Stored && mode == Mode::Test {
            self.first_test_orders.insert(business);
        }
        Ok(outcome)
    }

    /// Places an order whose debit is posted. Placing it again changes nothing.
    pub async fn place(&self, order: &ExistingOrder) -> Result<(), StoreError> {
        let paid =
            PlacePaid { order: order.placed(), attempt: order.attempt, trace: TraceContext::current() };
        self.placements.submit(paid).await
    }
}
