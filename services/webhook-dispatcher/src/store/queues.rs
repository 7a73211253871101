//! Queues keep each order's events in sequence per endpoint: only the head of a queue is due. `fan_out` applies the
//! same rule to new deliveries.

use chrono::{DateTime, Utc};
use diesel::sql_types::{Array, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{EndpointId, OrderId};
use postgres::{StoreError, statement};

/// Endpoints with due or leased deliveries, as `queues (endpoint_id, business_id)`. Skips from one endpoint to the next
/// in the index (a loose index scan), so a backlog costs nothing extra.
macro_rules! waiting_queues {
    () => {
        "
WITH RECURSIVE queues (endpoint_id, business_id) AS (
    (SELECT endpoint_id, business_id FROM deliveries WHERE due_at IS NOT NULL ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, next.business_id
    FROM queues
    CROSS JOIN LATERAL (
        SELECT deliveries.endpoint_id, deliveries.business_id FROM deliveries
        WHERE deliveries.due_at IS NOT NULL AND deliveries.endpoint_id > queues.endpoint_id
        ORDER BY deliveries.endpoint_id LIMIT 1
    ) AS next
)"
    };
}
pub(super) use waiting_queues;

/// The deliveries of one order to one endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Queue {
    pub order: OrderId,
    pub endpoint: EndpointId,
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

/// Makes the head of each queue due, unless it already has a time or is behind a parked delivery. Returns the number of
/// heads. To be called whenever a queue loses its head. The caller holds the locks of the orders' streams. Serves all
/// businesses.
pub(crate) async fn advance(
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
