//! Events that an endpoint did not subscribe to when their turn came, and does now.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::EventId;
use postgres::{StoreError, statement};

use super::recoveries::DueRecovery;

/// They enter the log as if they had been called off before the job began, which it sends again. An id lies in the log where
/// its event's time is; a part of it comes from the endpoint, since several endpoints can miss the same event. `POSIX` names
/// the index. What is added behind `$8` is counted when the count gets there.
const ADD: &str = r#"
    WITH looked_at AS (
        SELECT event_id, order_id, sequence, kind, mode FROM events
        WHERE business_id = $1 AND business_id COLLATE "POSIX" = $1
            AND event_id COLLATE "POSIX" >= $3 AND event_id COLLATE "POSIX" < $4 AND event_id COLLATE "POSIX" > $5
        ORDER BY event_id COLLATE "POSIX"
        LIMIT $6
    ),
    added AS (
        INSERT INTO deliveries (
            id, event_id, endpoint_id, business_id, order_id, sequence, kind, in_turn, state, attempts, earlier_attempts,
            last_error, created_at, completed_at)
        SELECT 'whd_' || substr(looked_at.event_id, 5, 18) || upper(substr(md5($2), 1, 8)), looked_at.event_id, $2, $1,
            looked_at.order_id, looked_at.sequence, looked_at.kind, false, 'discarded', 0, 0,
            'not sent: the endpoint no longer subscribes to such events', $7, $7
        FROM looked_at
        JOIN endpoints ON endpoints.business_id = $1 AND endpoints.id = $2
        WHERE looked_at.kind = ANY (endpoints.events) AND looked_at.mode = ANY (endpoints.modes)
            AND NOT EXISTS (
                SELECT FROM deliveries
                WHERE deliveries.event_id = looked_at.event_id AND deliveries.endpoint_id = $2
                    AND deliveries.business_id = $1 OFFSET 0)
        ON CONFLICT DO NOTHING
        RETURNING id
    )
    SELECT (SELECT count(*) FROM looked_at) AS looked_at, (SELECT max(event_id) FROM looked_at) AS last,
        (SELECT count(*) FROM added WHERE $8 IS NULL OR id <= $8) AS to_count"#;

#[derive(QueryableByName)]
struct Added {
    #[diesel(sql_type = BigInt)]
    looked_at: i64,
    #[diesel(sql_type = Nullable<Text>)]
    last: Option<String>,
    #[diesel(sql_type = BigInt)]
    to_count: i64,
}

const LOOKED_THROUGH: &str = "
    UPDATE recoveries SET total = total + $3, looked_through_id = $4, due_at = $5 WHERE business_id = $1 AND id = $2";

/// Looks through the next `events_max` events of the job's span, since the endpoint was created, and adds to the endpoint's
/// log what it wants of them; false when all were looked through before. Wants the job's lock.
pub(crate) async fn add_unsubscribed_portion(
    conn: &mut AsyncPgConnection,
    due: &DueRecovery,
    events_max: i64,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let Some(after) = &due.looked_through else { return Ok(false) };
    let (job, business) = (&due.recovery, due.recovery.business_id.to_string());
    let added: Added = statement(ADD)
        .bind::<Text, _>(business.as_str())
        .bind::<Text, _>(job.endpoint_id.to_string())
        .bind::<Text, _>(EventId::first_of(job.since.max(due.endpoint_created_at)).to_string())
        .bind::<Text, _>(EventId::first_of(job.until).to_string())
        .bind::<Text, _>(after.as_str())
        .bind::<BigInt, _>(events_max)
        .bind::<Timestamptz, _>(job.created_at)
        .bind::<Nullable<Text>, _>(due.counted.as_deref())
        .get_result(conn)
        .await?;
    let goes_on_after = added.last.filter(|_| added.looked_at == events_max);
    statement(LOOKED_THROUGH)
        .bind::<Text, _>(business)
        .bind::<Text, _>(job.id.to_string())
        .bind::<BigInt, _>(added.to_count)
        .bind::<Nullable<Text>, _>(goes_on_after)
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    Ok(true)
}
