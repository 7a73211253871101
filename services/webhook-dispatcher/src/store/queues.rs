//! Queues keep each order's events in sequence per endpoint: only the head of a queue is due. `fan_out` applies the
//! same rule to new deliveries.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, OrderId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::streams::{Stream, lock_streams};

/// The deliveries of one order to one endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Queue {
    pub order: OrderId,
    pub endpoint: EndpointId,
}

/// The orders whose streams this transaction has locked. Only with them can a queue get another head, so nothing else
/// ends, skips, parks or repeats its deliveries at the same time.
#[derive(Debug, Default)]
pub(crate) struct LockedQueues {
    orders: BTreeSet<OrderId>,
    streams: BTreeMap<OrderId, Stream>,
}

impl LockedQueues {
    /// Locks the existing streams of these orders, sorted.
    pub(crate) async fn lock(
        conn: &AsyncPgConnection,
        orders: impl IntoIterator<Item = OrderId>,
    ) -> Result<Self, StoreError> {
        let orders = BTreeSet::from_iter(orders);
        let streams = lock_streams(conn, orders.iter().copied()).await?;
        Ok(Self { orders, streams })
    }

    pub(crate) fn streams(&self) -> &BTreeMap<OrderId, Stream> {
        &self.streams
    }

    pub(super) fn erased(&self) -> BTreeSet<OrderId> {
        self.streams
            .iter()
            .filter(|(_, stream)| stream.erased_at.is_some())
            .map(|(order, _)| *order)
            .collect()
    }

    pub(crate) fn streams_mut(&mut self) -> &mut BTreeMap<OrderId, Stream> {
        &mut self.streams
    }

    /// Adds streams that this transaction inserts.
    pub(super) fn insert(&mut self, begun: impl IntoIterator<Item = (OrderId, Stream)>) {
        for (order, stream) in begun {
            self.orders.insert(order);
            self.streams.insert(order, stream);
        }
    }

    /// Makes the head of each queue due, unless it already has a time or is behind a parked delivery. Returns the number
    /// of heads. To be called whenever a queue loses its head. Serves all businesses.
    pub(crate) async fn advance(
        &self,
        conn: &AsyncPgConnection,
        queues: &[Queue],
        now: DateTime<Utc>,
    ) -> Result<usize, StoreError> {
        if queues.iter().all(|queue| self.orders.contains(&queue.order)) {
            return advance(conn, queues, now).await;
        }
        Err(corrupt("a queue is not locked"))
    }
}

const ADVANCE: &str = "
UPDATE deliveries AS head
SET due_at = $3
FROM unnest($1, $2) AS queue (endpoint_id, order_id)
CROSS JOIN LATERAL (
    SELECT id, business_id, sequence FROM deliveries AS waiting
    WHERE waiting.endpoint_id = queue.endpoint_id AND waiting.order_id = queue.order_id
      AND waiting.state = 'pending' AND waiting.in_turn
    ORDER BY waiting.sequence
    LIMIT 1
) AS first
WHERE head.id = first.id AND head.business_id = first.business_id AND head.due_at IS NULL
  AND NOT EXISTS (
      SELECT FROM deliveries AS parked
      WHERE parked.endpoint_id = queue.endpoint_id AND parked.order_id = queue.order_id
        AND parked.state = 'parked' AND parked.in_turn AND parked.sequence < first.sequence OFFSET 0)";

async fn advance(
    mut conn: &AsyncPgConnection,
    queues: &[Queue],
    now: DateTime<Utc>,
) -> Result<usize, StoreError> {
    if queues.is_empty() {
        return Ok(0);
    }
    let endpoints: Vec<String> = queues.iter().map(|queue| queue.endpoint.to_string()).collect();
    let orders: Vec<String> = queues.iter().map(|queue| queue.order.to_string()).collect();
    Ok(statement(ADVANCE)
        .bind::<Array<Text>, _>(endpoints)
        .bind::<Array<Text>, _>(orders)
        .bind::<Timestamptz, _>(now)
        .execute(&mut conn)
        .await?)
}

const WITH_QUEUES: &str = "
SELECT DISTINCT known.order_id
FROM unnest($1, $2) AS known (order_id, business_id)
JOIN endpoints ON endpoints.business_id = known.business_id AND endpoints.deleted_at IS NULL
CROSS JOIN LATERAL (
    (SELECT 1 FROM deliveries
     WHERE endpoint_id = endpoints.id AND order_id = known.order_id AND business_id = known.business_id
       AND state = 'pending' AND in_turn LIMIT 1)
    UNION ALL
    (SELECT 1 FROM deliveries
     WHERE endpoint_id = endpoints.id AND order_id = known.order_id AND business_id = known.business_id
       AND state = 'parked' AND in_turn LIMIT 1)
) AS queued";

#[derive(QueryableByName)]
struct OrderRow {
    #[diesel(sql_type = Text)]
    order_id: String,
}

/// Which of these orders have unfinished deliveries.
pub(crate) async fn orders_with_queues(
    mut conn: &AsyncPgConnection,
    orders: &[(OrderId, BusinessId)],
) -> Result<BTreeSet<OrderId>, StoreError> {
    if orders.is_empty() {
        return Ok(BTreeSet::new());
    }
    let rows: Vec<OrderRow> = statement(WITH_QUEUES)
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(order, _)| order.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(orders.iter().map(|(_, business)| business.to_string())))
        .load(&mut conn)
        .await?;
    rows.into_iter().map(|row| row.order_id.parse().map_err(corrupt)).collect()
}
