//! The two commits of an order, each shared by all that queue for it: storing the intent (a test order is placed with
//! it), and placing what is paid.

use std::collections::{BTreeMap, HashMap};

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, EventId, EventKind, Mode, OrderId};
use events::{Body, Envelope, ProgressData};
use postgres::{Apply, StoreError};
use telemetry::TraceContext;

use crate::app::Ambient;
use crate::commands::Reported;
use crate::commands::move_order::{OrderHappening, write_all};
use crate::domain::{NewOrder, Order, Placement, Scenario, Simulation};
use crate::store::placing::Paid;
use crate::store::{placing, simulations, testers};
use crate::testers::Testers;

/// An order to store.
pub struct Intent {
    pub order: NewOrder,
    pub placement: Placement,
    pub trace: Option<TraceContext>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentOutcome {
    Stored,
    /// Its reference or its key is held by another order.
    Conflict,
}

/// An order whose debit is posted.
pub struct Payment {
    pub paid: Paid,
    /// Of the request that waits: a batch has no span of its own.
    pub trace: Option<TraceContext>,
}

/// Stores intents; places the test orders among them.
pub struct IntentBatch {
    pub ambient: Ambient,
    pub testers: Testers,
}

impl Apply for IntentBatch {
    type Job = Intent;
    type Outcome = IntentOutcome;

    async fn apply(
        &self,
        conn: &mut AsyncPgConnection,
        jobs: &[Intent],
    ) -> Result<Vec<IntentOutcome>, StoreError> {
        let mut new: Vec<_> = jobs.iter().map(|job| (&job.order, job.placement)).collect();
        // In the order of what they lock: two batches with the same orders never wait for each other in a circle.
        new.sort_by_key(|(order, _)| {
            (order.business_id, order.mode.as_str(), &order.order_reference, &order.idempotency_key)
        });
        let stored = placing::insert(conn, &new).await?;
        let outcomes: Vec<_> = jobs
            .iter()
            .map(|job| match stored.contains(&job.order.id.to_string()) {
                true => IntentOutcome::Stored,
                false => IntentOutcome::Conflict,
            })
            .collect();
        let placed: Vec<_> = jobs
            .iter()
            .zip(&outcomes)
            .filter(|(job, outcome)| **outcome == IntentOutcome::Stored && job.placement == Placement::Placed)
            .map(|(job, _)| (job.order.clone().into_placed(), job.trace.clone()))
            .collect();
        announce(&self.ambient, conn, &placed).await?;
        self.announce_testers(conn, &placed).await?;
        simulations::schedule(conn, &runs(&placed)).await?;
        Ok(outcomes)
    }
}

impl IntentBatch {
    /// Tells of businesses whose first test order is among these.
    async fn announce_testers(
        &self,
        conn: &mut AsyncPgConnection,
        placed: &[(Order, Option<TraceContext>)],
    ) -> Result<(), StoreError> {
        // Each in the trace of the first of its orders.
        let mut testing: BTreeMap<BusinessId, Option<&TraceContext>> = BTreeMap::new();
        for (order, trace) in placed.iter().filter(|(order, _)| order.mode == Mode::Test) {
            testing.entry(order.business_id).or_insert(trace.as_ref());
        }
        let unknown = testing.keys().copied().filter(|business| !self.testers.knows(*business));
        let now = self.ambient.clock.now();
        let new = testers::add(conn, unknown, now).await?;
        let told = new.into_iter().map(|business_id| Envelope {
            id: EventId::generate(&self.ambient.clock, &self.ambient.entropy),
            business_id,
            occurred_at: now,
            body: Body::FirstTestOrder {},
        });
        let told: Vec<_> = told.collect();
        let traced = told.iter().map(|told| (told, testing.get(&told.business_id).copied().flatten()));
        outbox::enqueue_traced(conn, traced, now).await
    }
}

/// The test orders among them whose reference asks for an outcome.
fn runs(placed: &[(Order, Option<TraceContext>)]) -> Vec<Simulation> {
    placed
        .iter()
        .filter_map(|(order, _)| {
            let scenario = Scenario::of_reference(order.mode, &order.order_reference)?;
            Some(Simulation::new(order.id, order.business_id, scenario, order.created_at))
        })
        .collect()
}

/// Places what is paid. An order that was placed before stays as it is.
pub struct PaymentBatch(pub Ambient);

impl Apply for PaymentBatch {
    type Job = Payment;
    type Outcome = ();

    async fn apply(&self, conn: &mut AsyncPgConnection, jobs: &[Payment]) -> Result<Vec<()>, StoreError> {
        let paid: Vec<_> = jobs.iter().map(|job| job.paid).collect();
        let traces: HashMap<OrderId, &Option<TraceContext>> =
            jobs.iter().map(|job| (job.paid.order_id, &job.trace)).collect();
        let placed: Vec<_> = placing::place(conn, &paid, self.0.clock.now())
            .await?
            .into_iter()
            .map(|order| {
                let trace = traces.get(&order.id).and_then(|trace| (*trace).clone());
                (order, trace)
            })
            .collect();
        announce(&self.0, conn, &placed).await?;
        Ok(vec![(); jobs.len()])
    }
}

/// The first event of each order's life.
async fn announce(
    ambient: &Ambient,
    conn: &mut AsyncPgConnection,
    placed: &[(Order, Option<TraceContext>)],
) -> Result<(), StoreError> {
    if placed.is_empty() {
        return Ok(());
    }
    let now = ambient.clock.now();
    let created = |order: &Order| Reported {
        event: EventKind::OrderCreated,
        data: ProgressData::default(),
        occurred_at: order.updated_at,
    };
    let happenings = placed
        .iter()
        .map(|(order, trace)| OrderHappening {
            order,
            reported: created(order),
            refund_due: false,
            trace: trace.clone(),
        })
        .collect();
    write_all(ambient, conn, happenings, now).await
}
