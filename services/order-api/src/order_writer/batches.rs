//! The two kinds of write batch.

use std::collections::BTreeMap;

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Clock, EventId, EventKind, Mode, OrderId, composed};
use events::{Body, Envelope, ProgressData};
use outbox::Unit;
use postgres::{Apply, StoreError};
use telemetry::TraceContext;

use crate::cache::FirstTestOrderCache;
use crate::domain::{NewOrder, Order, OrderSummary, Placement, Scenario, Simulation};
use crate::order_events::{OrderChange, OrderEvents, Progress};
use crate::store::{first_test_orders, new_orders, placement, simulations};

/// A placed order, with the trace of the request that placed it: a batch has no span of its own.
type Traced = (Order, Option<TraceContext>);

/// An order to store.
pub struct Insert {
    pub order: NewOrder,
    pub placement: Placement,
    pub trace: Option<TraceContext>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    Stored,
    /// Another order has its reference or key.
    Conflict,
}

/// Stores orders, and announces those that are placed.
pub struct InsertBatch {
    unit: Unit,
    events: OrderEvents,
    first_test_orders: FirstTestOrderCache,
}

impl Apply for InsertBatch {
    type Job = Insert;
    type Outcome = InsertOutcome;

    async fn apply(
        &self,
        conn: &AsyncPgConnection,
        jobs: &[Insert],
    ) -> Result<Vec<InsertOutcome>, StoreError> {
        let mut new: Vec<_> = jobs.iter().map(|job| (&job.order, job.placement)).collect();
        // Sorted by the unique keys that they lock, so that two batches with the same orders cannot deadlock.
        new.sort_by_cached_key(|(order, _)| {
            let reference = composed(&order.order_reference);
            (order.business_id, order.mode.as_str(), reference, &order.idempotency_key)
        });
        let placed = placed(jobs);
        let changes = placed.iter().map(|(order, trace)| created(order.summary(), trace.clone())).collect();
        let (events, messages) = self.events.prepare(changes)?;
        let stored = new_orders::insert(conn, &new, &events, messages).await?;
        let outcomes: Vec<_> = jobs
            .iter()
            .map(|job| match stored.contains(&job.order.id.to_string()) {
                true => InsertOutcome::Stored,
                false => InsertOutcome::Conflict,
            })
            .collect();
        let placed: Vec<Traced> =
            placed.into_iter().filter(|(order, _)| stored.contains(&order.id.to_string())).collect();
        self.announce_first_test_orders(conn, &placed).await?;
        simulations::schedule(conn, &requested_simulations(&placed)).await?;
        Ok(outcomes)
    }

    /// Unless a test order is the first of its business, or requests a simulation.
    fn is_single_statement(&self, jobs: &[Insert]) -> bool {
        let placed = placed(jobs);
        let is_known = |(order, _): &Traced| self.first_test_orders.contains(order.business_id);
        requested_simulations(&placed).is_empty() && placed.iter().all(is_known)
    }
}

/// The orders that are placed as soon as they are stored.
fn placed(jobs: &[Insert]) -> Vec<Traced> {
    let placed = jobs.iter().filter(|job| job.placement == Placement::Placed);
    placed.map(|job| (job.order.clone().into_placed(), job.trace.clone())).collect()
}

impl InsertBatch {
    pub fn new(unit: &Unit, events: OrderEvents, first_test_orders: FirstTestOrderCache) -> Self {
        Self { unit: unit.clone(), events, first_test_orders }
    }

    /// Announces businesses with their first test order in this batch, in the trace of that order.
    async fn announce_first_test_orders(
        &self,
        conn: &AsyncPgConnection,
        placed: &[Traced],
    ) -> Result<(), StoreError> {
        let mut traces: BTreeMap<BusinessId, Option<&TraceContext>> = BTreeMap::new();
        for (order, trace) in placed.iter().filter(|(order, _)| order.mode == Mode::Test) {
            traces.entry(order.business_id).or_insert(trace.as_ref());
        }
        let unknown = traces.keys().copied().filter(|business| !self.first_test_orders.contains(*business));
        let Unit { clock, entropy, outbox, .. } = &self.unit;
        let now = clock.now();
        let new = first_test_orders::add(conn, unknown).await?;
        let envelopes = new.into_iter().map(|business_id| Envelope {
            id: EventId::generate(clock, entropy),
            business_id,
            occurred_at: now,
            body: Body::FirstTestOrder {},
        });
        let envelopes: Vec<_> = envelopes.collect();
        let traced =
            envelopes.iter().map(|envelope| (envelope, traces.get(&envelope.business_id).copied().flatten()));
        outbox.enqueue_traced(conn, traced, now).await
    }
}

/// The simulations that the references of test orders request.
fn requested_simulations(placed: &[Traced]) -> Vec<Simulation> {
    placed
        .iter()
        .filter_map(|(order, _)| {
            let scenario = Scenario::of_reference(order.mode, &order.order_reference)?;
            Some(Simulation::new(order.id, order.business_id, scenario, order.created_at))
        })
        .collect()
}

/// A paid order to place.
pub struct PlacePaid {
    pub order: OrderSummary,
    /// The paid attempt.
    pub attempt: i32,
    pub trace: Option<TraceContext>,
}

/// Places paid orders, and announces them. Skips orders that are placed already.
pub struct PlaceBatch {
    clock: Clock,
    events: OrderEvents,
}

impl PlaceBatch {
    pub fn new(clock: Clock, events: OrderEvents) -> Self {
        Self { clock, events }
    }
}

impl Apply for PlaceBatch {
    type Job = PlacePaid;
    type Outcome = ();

    async fn apply(&self, conn: &AsyncPgConnection, jobs: &[PlacePaid]) -> Result<Vec<()>, StoreError> {
        let now = self.clock.now();
        // A request and its repetition may both place the order that they have paid; it is announced once. An order has one
        // paid attempt.
        let unique: BTreeMap<OrderId, &PlacePaid> = jobs.iter().map(|job| (job.order.id, job)).collect();
        let (mut paid, mut changes) = (Vec::with_capacity(unique.len()), Vec::with_capacity(unique.len()));
        for PlacePaid { order, attempt, trace } in unique.into_values() {
            // The clock of the replica that stored it may be ahead.
            let placed = OrderSummary { updated_at: now.max(order.updated_at), ..order.clone() };
            paid.push((placed.clone(), *attempt));
            changes.push(created(placed, trace.clone()));
        }
        let (events, messages) = self.events.prepare(changes)?;
        placement::place(conn, &paid, &events, messages).await?;
        Ok(vec![(); jobs.len()])
    }

    fn is_single_statement(&self, _: &[PlacePaid]) -> bool {
        true
    }
}

/// The first event of an order.
fn created(order: OrderSummary, trace: Option<TraceContext>) -> OrderChange {
    let progress = Progress {
        event: EventKind::OrderCreated,
        data: ProgressData::default(),
        occurred_at: order.updated_at,
    };
    OrderChange { order, progress, trace }
}
