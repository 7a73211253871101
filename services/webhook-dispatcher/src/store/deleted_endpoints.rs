//! Pending deliveries of deleted endpoints. Serves all businesses.

use diesel::sql_types::BigInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

/// Skips deliveries in flight: a later round finds them.
const DISCARD: &str = r#"
UPDATE deliveries
SET state = 'discarded', due_at = NULL, completed_at = statement_timestamp(), last_error = 'not sent: the endpoint was deleted'
FROM (
    SELECT waiting.id, endpoints.business_id
    FROM endpoints
    CROSS JOIN LATERAL (
        SELECT id FROM deliveries
        WHERE endpoint_id = endpoints.id AND state = 'pending' AND lease_token IS NULL
        LIMIT $1
        FOR UPDATE SKIP LOCKED
    ) AS waiting
    WHERE endpoints.deleted_at IS NOT NULL
    LIMIT $1
) AS left_over
WHERE deliveries.id = left_over.id AND deliveries.business_id = left_over.business_id
"#;

/// Discards up to `limit` deliveries of deleted endpoints. Returns their number.
pub(crate) async fn discard_for_deleted_endpoints(
    conn: &mut AsyncPgConnection,
    limit: i64,
) -> Result<usize, StoreError> {
    Ok(statement(DISCARD).bind::<BigInt, _>(limit).execute(conn).await?)
}
