//! What is left of deleted endpoints: their pending deliveries, of all businesses, and everything of a closed business.

use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::{StoreError, statement};

use super::schema::endpoints;

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

/// Deletes completed deliveries with their attempts. The sweeper completes those that still wait.
const DELIVERIES: &str = "
    WITH portion AS (SELECT id FROM deliveries WHERE business_id = $1 AND completed_at IS NOT NULL LIMIT $2),
    attempted AS (
        DELETE FROM attempts USING portion WHERE attempts.delivery_id = portion.id AND attempts.business_id = $1)
    DELETE FROM deliveries USING portion WHERE deliveries.id = portion.id AND deliveries.business_id = $1";

/// `POSIX` selects the index.
const EVENTS: &str = r#"
    DELETE FROM events
    WHERE business_id = $1 AND event_id IN (
        SELECT event_id FROM events
        WHERE business_id = $1 AND business_id COLLATE "POSIX" = $1
            AND NOT EXISTS (
                SELECT FROM deliveries WHERE deliveries.event_id = events.event_id AND deliveries.business_id = $1)
        LIMIT $2)"#;

const HELD_BACK: &str = "
    DELETE FROM held_back_events
    WHERE business_id = $1
        AND event_id IN (SELECT event_id FROM held_back_events WHERE business_id = $1 LIMIT $2)";

/// With what refers to them. An endpoint stays while a delivery of it waits.
const ENDPOINTS: &str = "
    WITH portion AS (
        SELECT id FROM endpoints
        WHERE business_id = $1 AND deleted_at IS NOT NULL
            AND NOT EXISTS (SELECT FROM deliveries WHERE business_id = $1 AND endpoint_id = endpoints.id)
        LIMIT $2),
    recovered AS (
        DELETE FROM recoveries USING portion
        WHERE recoveries.endpoint_id = portion.id AND recoveries.business_id = $1),
    warned AS (
        DELETE FROM endpoint_notices USING portion
        WHERE endpoint_notices.endpoint_id = portion.id AND endpoint_notices.business_id = $1),
    watched AS (
        DELETE FROM endpoint_health USING portion
        WHERE endpoint_health.endpoint_id = portion.id AND endpoint_health.business_id = $1)
    DELETE FROM endpoints USING portion WHERE endpoints.id = portion.id AND endpoints.business_id = $1";

/// Deletes at most `max` rows of each of these tables, and returns whether nothing is left. The caller has found no endpoint
/// that is not deleted. Streams of orders name only ids, and end by their age.
pub(crate) async fn delete_closed(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    max: u16,
) -> Result<bool, StoreError> {
    let mut is_full = false;
    for sql in [DELIVERIES, EVENTS, HELD_BACK, ENDPOINTS] {
        let deleted = statement(sql)
            .bind::<Text, _>(business.to_string())
            .bind::<BigInt, _>(i64::from(max))
            .execute(conn)
            .await?;
        is_full |= deleted >= usize::from(max);
    }
    let left = endpoints::table.filter(endpoints::business_id.eq(business.to_string()));
    let is_left: bool = diesel::select(exists(left)).get_result(conn).await?;
    Ok(!is_full && !is_left)
}
