//! Finds endpoints with due deliveries. Serves all businesses.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId, Mode};
use postgres::{StoreError, statement};

use super::corrupt;
use super::leases::is_free;

/// Skips from one endpoint to the next in the index (a loose index scan), so a backlog costs nothing extra. Of the endpoints
/// whose last two digits are in `$3`, finds the first delivery of each mode that may be claimed, unless the endpoint is paused,
/// disabled or tripped.
const SCAN: &str = concat!(
    "
WITH RECURSIVE queues (endpoint_id, business_id) AS (
    (SELECT endpoint_id, business_id FROM deliveries
     WHERE due_at IS NOT NULL AND endpoint_id > $1 ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, next.business_id
    FROM queues
    CROSS JOIN LATERAL (
        SELECT deliveries.endpoint_id, deliveries.business_id FROM deliveries
        WHERE deliveries.due_at IS NOT NULL AND deliveries.endpoint_id > queues.endpoint_id
        ORDER BY deliveries.endpoint_id LIMIT 1
    ) AS next
),
page AS (SELECT * FROM queues LIMIT $2)
SELECT page.endpoint_id, page.business_id, waiting.mode, waiting.due_at,
    coalesce(waiting.half_open, false) AS half_open, statement_timestamp() AS at
FROM page
LEFT JOIN LATERAL (
    SELECT modes.mode, first.due_at, health.tripped_until IS NOT NULL AS half_open
    FROM endpoints
    JOIN endpoint_health AS health
        ON health.endpoint_id = endpoints.id AND health.business_id = endpoints.business_id
    CROSS JOIN (VALUES ('live'), ('test')) AS modes (mode)
    CROSS JOIN LATERAL (
        SELECT due_at FROM deliveries
        WHERE deliveries.endpoint_id = endpoints.id AND deliveries.mode = modes.mode
          AND due_at <= statement_timestamp() AND ",
    is_free!(),
    "
        ORDER BY due_at LIMIT 1
    ) AS first
    WHERE endpoints.id = page.endpoint_id AND endpoints.business_id = page.business_id
      AND NOT endpoints.paused AND endpoints.deleted_at IS NULL AND health.disabled_at IS NULL
      AND (health.tripped_until IS NULL OR health.tripped_until <= statement_timestamp())
      AND ($3 IS NULL OR strpos($3, ',' || right(page.endpoint_id, 2)) > 0)
) AS waiting ON true"
);

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Nullable<Text>)]
    mode: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    due_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Bool)]
    half_open: bool,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
}

/// A part of the scan.
#[derive(Debug, Default)]
pub(crate) struct DuePage {
    /// Endpoints with due deliveries.
    pub due: Vec<(EndpointId, BusinessId, Mode)>,
    /// Since when the oldest of these deliveries is due, except those that wait for a probe of a circuit breaker.
    pub oldest: Option<DateTime<Utc>>,
    /// The time of the look, if it found an endpoint.
    pub at: DateTime<Utc>,
    /// Where the next page begins; none after the last page.
    pub next: Option<String>,
}

/// Looks at the given number of endpoints after the given one. `parts`: the last two digits of those that matter, each after a
/// comma.
pub(crate) async fn scan_due(
    conn: &mut AsyncPgConnection,
    after: &str,
    endpoints: i64,
    parts: Option<&str>,
) -> Result<DuePage, StoreError> {
    let rows: Vec<Row> = statement(SCAN)
        .bind::<Text, _>(after)
        .bind::<BigInt, _>(endpoints)
        .bind::<Nullable<Text>, _>(parts)
        .load(conn)
        .await?;
    let seen: std::collections::BTreeSet<&String> = rows.iter().map(|row| &row.endpoint_id).collect();
    let is_full = i64::try_from(seen.len()).is_ok_and(|count| count == endpoints);
    let next = seen.last().filter(|_| is_full).map(|last| (*last).clone());
    let oldest = rows.iter().filter(|row| !row.half_open).filter_map(|row| row.due_at).min();
    let due = rows.iter().filter_map(|row| Some((row, row.mode.as_ref()?)));
    let due = due.map(|(row, mode)| {
        let (endpoint, business) = (row.endpoint_id.parse(), row.business_id.parse());
        Ok((endpoint.map_err(corrupt)?, business.map_err(corrupt)?, mode.parse().map_err(corrupt)?))
    });
    let at = rows.iter().map(|row| row.at).next().unwrap_or_default();
    Ok(DuePage { due: due.collect::<Result<_, StoreError>>()?, oldest, at, next })
}
