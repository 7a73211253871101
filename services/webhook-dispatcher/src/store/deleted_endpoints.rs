//! Pending deliveries of deleted endpoints. Serves all businesses.

use chrono::{DateTime, Utc};
use diesel::sql_types::{BigInt, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

/// Skips deliveries in flight: a later round finds them.
const DISCARD: &str = r#"
UPDATE deliveries
SET state = 'discarded', due_at = NULL, completed_at = $1, last_error = 'not sent: the endpoint was deleted'
FROM (
    SELECT waiting.id, endpoints.business_id
    FROM endpoints
    CROSS JOIN LATERAL (
        SELECT id FROM deliveries
        WHERE endpoint_id = endpoints.id AND state = 'pending' AND lease_token IS NULL
        LIMIT $2
        FOR UPDATE SKIP LOCKED
    ) AS waiting
    WHERE endpoints.deleted_at IS NOT NULL
    LIMIT $2
) AS left_over
WHERE deliveries.id = left_over.id AND deliveries.business_id = left_over.business_id
"#;

/// Discards up to `limit` deliveries of deleted endpoints. Returns their number.
pub(crate) async fn discard_for_deleted_endpoints(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<usize, StoreError> {
    Ok(statement(DISCARD).bind::<Timestamptz, _>(now).bind::<BigInt, _>(limit).execute(conn).await?)
}
