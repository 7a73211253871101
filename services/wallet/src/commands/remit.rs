//! Records a remittance and settles its orders, all or none, once per bank reference in any case of its letters.

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, EventId, OrderId, RemittanceId, TransferId};
use events::{Body, CashRemitted, Envelope};
use metrics::counter;
use postgres::StoreError;

use crate::domain::{
    CashRecord, CashStep, NewRemittance, OrderName, OrderRefusal, Remittance, RemittancePlan, RemittedOrder,
    WantedOrder, is_repetition,
};
use crate::state::State;
use crate::store;
use crate::store::transfers::CashMove;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RemitError {
    #[error("a remittance with this bank reference has another content")]
    ReferenceReused,
    #[error("{} orders cannot be settled", .0.len())]
    Refused(Vec<(usize, OrderRefusal)>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Debug)]
pub(crate) struct Remitted {
    pub(crate) remittance: Remittance,
    pub(crate) orders: Vec<RemittedOrder>,
    /// By an earlier call.
    pub(crate) already: bool,
}

/// Settles the orders, or returns the remittance that already has this bank reference and content.
///
/// # Errors
/// When an order cannot be settled, the bank reference belongs to another content, or the database fails.
pub(crate) async fn remit(state: &State, request: &NewRemittance) -> Result<Remitted, RemitError> {
    let remitted = state
        .unit
        .transaction(async |conn| {
            // A concurrent request with the same orders waits here, and then finds the remittance.
            let ids = order_ids(conn, request.business, &request.orders).await?;
            let cash = store::cash::lock_orders(conn, request.business, &ids).await?;
            match repeated(conn, request).await? {
                Some(before) => Ok(before),
                None => settle(conn, state, request, &cash).await,
            }
        })
        .await?;
    if !remitted.already {
        log_and_count(&remitted);
    }
    Ok(remitted)
}

/// What [`remit`] would do with these orders.
pub(crate) async fn check(
    state: &State,
    business: BusinessId,
    orders: &[WantedOrder],
) -> Result<RemittancePlan, StoreError> {
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let ids = order_ids(conn, business, orders).await?;
            let cash = store::cash::find_orders(conn, business, &ids).await?;
            plan(conn, business, orders, &cash).await
        })
        .await
}

async fn plan(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    orders: &[WantedOrder],
    cash: &[CashRecord],
) -> Result<RemittancePlan, StoreError> {
    let settled: Vec<OrderId> =
        cash.iter().filter(|record| record.settled.is_some()).map(|record| record.order).collect();
    let paid = store::remittances::of_cash(conn, &[business], &settled).await?;
    Ok(RemittancePlan::of(orders, cash, &paid))
}

/// The ids of the named orders. Omits references without cash to settle, unless it was settled lately.
async fn order_ids(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    orders: &[WantedOrder],
) -> Result<Vec<OrderId>, StoreError> {
    let (mut ids, mut references) = (Vec::with_capacity(orders.len()), Vec::new());
    for order in orders {
        match &order.name {
            OrderName::Id(id) => ids.push(*id),
            OrderName::Reference(reference) => references.push(reference.clone()),
        }
    }
    let unsettled = store::cash::unsettled_by_reference(conn, business, &references).await?;
    if unsettled.len() < references.len() {
        ids.extend(store::cash::settled_by_reference(conn, business, &references).await?);
    }
    ids.extend(unsettled);
    Ok(ids)
}

async fn repeated(
    conn: &mut AsyncPgConnection,
    request: &NewRemittance,
) -> Result<Option<Remitted>, RemitError> {
    let (business, reference) = (request.business, &request.bank_reference);
    let stored = store::remittances::find_by_bank_reference(conn, business, reference).await?;
    let Some(remittance) = stored else { return Ok(None) };
    let orders = store::remittances::orders_of(conn, business, remittance.id).await?;
    if !is_repetition(request, &remittance, &orders) {
        return Err(RemitError::ReferenceReused);
    }
    Ok(Some(Remitted { remittance, orders, already: true }))
}

async fn settle(
    conn: &mut AsyncPgConnection,
    state: &State,
    request: &NewRemittance,
    cash: &[CashRecord],
) -> Result<Remitted, RemitError> {
    let plan = plan(conn, request.business, &request.orders, cash).await?;
    let total = plan.total();
    if !plan.refused.is_empty() {
        return Err(RemitError::Refused(plan.refused));
    }
    let remittance = Remittance {
        id: RemittanceId::generate(&state.unit.clock, &state.unit.entropy),
        business: request.business,
        bank_reference: request.bank_reference.clone(),
        paid_on: request.paid_on,
        order_count: i64::try_from(plan.accepted.len()).unwrap_or(i64::MAX),
        total,
        created_by: request.created_by.clone(),
        created_at: state.unit.clock.now(),
    };
    // A concurrent remittance of other orders has the same bank reference.
    if !store::remittances::insert(conn, &remittance).await? {
        return Err(RemitError::ReferenceReused);
    }
    book(conn, state, &remittance, &plan.accepted).await?;
    Ok(Remitted { remittance, orders: plan.accepted, already: false })
}

/// Books each order as a report of the fleet would be, and announces it.
async fn book(
    conn: &mut AsyncPgConnection,
    state: &State,
    remittance: &Remittance,
    orders: &[RemittedOrder],
) -> Result<(), StoreError> {
    let (unit, now) = (&state.unit, remittance.created_at);
    let mut moves = Vec::with_capacity(orders.len());
    let mut announced = Vec::with_capacity(orders.len());
    for order in orders {
        let id = TransferId::generate(&unit.clock, &unit.entropy);
        moves.push(CashMove { id, order: order.order, amount: order.amount });
        announced.push(Envelope {
            id: EventId::generate(&unit.clock, &unit.entropy),
            business_id: remittance.business,
            occurred_at: now,
            body: Body::CashRemitted(CashRemitted {
                order_id: order.order,
                amount_paise: order.amount,
                remittance: events::Remittance {
                    id: remittance.id,
                    bank_reference: remittance.bank_reference.clone(),
                    paid_on: remittance.paid_on,
                },
            }),
        });
    }
    store::cash::settle_orders(conn, remittance.business, orders, now).await?;
    store::remittances::insert_orders(conn, remittance, orders).await?;
    store::transfers::insert_cash(conn, remittance.business, CashStep::Settled, &moves, now).await?;
    unit.outbox.enqueue(conn, &announced, now).await
}

fn log_and_count(remitted: &Remitted) {
    let Remitted { remittance, orders, .. } = remitted;
    let differing = orders.iter().filter(|order| order.differs()).count();
    let step = CashStep::Settled.as_str();
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    counter!("wallet_cash_steps_total", "step" => step).increment(count(orders.len()));
    counter!("wallet_cash_discrepancies_total", "step" => step).increment(count(differing));
    let (id, business_id, orders) = (remittance.id, remittance.business, orders.len());
    tracing::info!(remittance = %id, %business_id, orders, differing, "cash remitted");
}
