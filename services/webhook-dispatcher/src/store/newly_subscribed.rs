//! Adds events to a recovery that the endpoint did not subscribe to at the time, and does now.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::EventId;
use postgres::{StoreError, statement};

use super::recoveries::DueRecovery;

/// Adds them to the log as deliveries that were discarded before the recovery began, which the recovery then sends. The
/// id has the event's time, so that it sorts like other deliveries, and a hash of the endpoint, because several
/// endpoints can miss the same event. `POSIX` selects the index. Deliveries after `$8` are not counted here: the count
/// reaches them later.
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
            id, event_id, endpoint_id, business_id, order_id, sequence, kind, mode, in_turn, state, attempts, earlier_attempts,
            last_error, created_at, completed_at)
        SELECT 'whd_' || substr(looked_at.event_id, 5, 18) || upper(substr(md5($2), 1, 8)), looked_at.event_id, $2, $1,
            looked_at.order_id, looked_at.sequence, looked_at.kind, looked_at.mode, false, 'discarded', 0, 0,
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

const SAVE_PROGRESS: &str = "
    UPDATE recoveries SET total = total + $3, scanned_id = $4, due_at = $5 WHERE business_id = $1 AND id = $2";

/// Scans the next `scan_max` events of the recovery's period, but none before the endpoint's creation, and adds those
/// that the endpoint subscribes to. Returns false if all were scanned before. The caller holds the recovery's lock.
pub(crate) async fn add_newly_subscribed(
    conn: &mut AsyncPgConnection,
    due: &DueRecovery,
    scan_max: i64,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let Some(after) = &due.scanned else { return Ok(false) };
    let (job, business) = (&due.recovery, due.recovery.business_id.to_string());
    let added: Added = statement(ADD)
        .bind::<Text, _>(business.as_str())
        .bind::<Text, _>(job.endpoint_id.to_string())
        .bind::<Text, _>(EventId::first_of(job.since.max(due.endpoint_created_at)).to_string())
        .bind::<Text, _>(EventId::first_of(job.until).to_string())
        .bind::<Text, _>(after.as_str())
        .bind::<BigInt, _>(scan_max)
        .bind::<Timestamptz, _>(job.created_at)
        .bind::<Nullable<Text>, _>(due.counted.as_deref())
        .get_result(conn)
        .await?;
    let continue_after = added.last.filter(|_| added.looked_at == scan_max);
    statement(SAVE_PROGRESS)
        .bind::<Text, _>(business)
        .bind::<Text, _>(job.id.to_string())
        .bind::<BigInt, _>(added.to_count)
        .bind::<Nullable<Text>, _>(continue_after)
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    Ok(true)
}
