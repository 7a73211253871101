//! Skips events that their endpoint refuses while it accepts others (SPECIFICATION §11.3). Serves all businesses.

use chrono::TimeDelta;
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{OrderId, WebhookDeliveryId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::queues::{LockedQueues, Queue};

/// A delivery that no longer blocks its queue. It keeps its own retries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skipped {
    pub delivery: WebhookDeliveryId,
    pub queue: Queue,
}

/// Requires that the endpoint accepted other webhooks both before and after the latest failure. If it is down, tripped
/// or disabled, the order waits.
const FIND: &str = "
SELECT stuck.id, stuck.order_id, stuck.endpoint_id
FROM endpoint_health AS health
CROSS JOIN LATERAL (
    SELECT id, order_id, endpoint_id FROM deliveries
    WHERE endpoint_id = health.endpoint_id AND state = 'pending' AND in_turn AND first_failed_at <= $1
      AND endpoint_was_up AND last_failed_at < health.last_success_at AND lease_token IS NULL
    ORDER BY first_failed_at
    LIMIT $2
) AS stuck
WHERE health.last_success_at > $1 AND health.tripped_until IS NULL AND health.disabled_at IS NULL
LIMIT $2";

/// The conditions on states are in a form that no index matches: the planner must use the ids.
const SKIP: &str = "
UPDATE deliveries SET in_turn = false, skipped_at = $2
WHERE id = ANY ($1) AND coalesce(state = 'pending', false) AND in_turn AND lease_token IS NULL
RETURNING id, order_id, endpoint_id";

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    order_id: String,
    #[diesel(sql_type = Text)]
    endpoint_id: String,
}

impl Row {
    fn read(self) -> Result<Skipped, StoreError> {
        let order = self.order_id.parse().map_err(corrupt)?;
        let queue = Queue { order, endpoint: self.endpoint_id.parse().map_err(corrupt)? };
        Ok(Skipped { delivery: self.id.parse().map_err(corrupt)?, queue })
    }
}

/// Skips up to `limit` heads that have failed for `skip_after` or longer.
pub(crate) async fn skip_blocking(
    conn: &mut AsyncPgConnection,
    skip_after: TimeDelta,
    limit: i64,
) -> Result<Vec<Skipped>, StoreError> {
    let now = super::now(conn).await?;
    let since = now - skip_after;
    let found: Vec<Row> =
        statement(FIND).bind::<Timestamptz, _>(since).bind::<BigInt, _>(limit).load(conn).await?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let orders: Vec<OrderId> =
        found.iter().map(|row| row.order_id.parse().map_err(corrupt)).collect::<Result<_, _>>()?;
    let locked = LockedQueues::lock(conn, orders).await?;
    let rows: Vec<Row> = statement(SKIP)
        .bind::<Array<Text>, _>(Vec::from_iter(found.into_iter().map(|row| row.id)))
        .bind::<Timestamptz, _>(now)
        .load(conn)
        .await?;
    let skipped: Vec<Skipped> = rows.into_iter().map(Row::read).collect::<Result<_, _>>()?;
    locked.advance(conn, &Vec::from_iter(skipped.iter().map(|one| one.queue)), now).await?;
    Ok(skipped)
}
