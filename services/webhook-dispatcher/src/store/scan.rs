//! Finds endpoints with due deliveries. Serves all businesses.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId};
use postgres::{StoreError, statement};

use super::claims::Asked;
use super::corrupt;
use super::leases::is_free;

/// The first delivery that may be claimed, of an endpoint that is neither paused, disabled nor tripped.
macro_rules! first_due {
    ($since:literal) => {
        concat!(
            "
    SELECT first.due_at, health.tripped_until IS NOT NULL AS half_open
    FROM endpoints
    JOIN endpoint_health AS health
        ON health.endpoint_id = endpoints.id AND health.business_id = endpoints.business_id
    CROSS JOIN LATERAL (
        SELECT due_at FROM deliveries
        WHERE deliveries.endpoint_id = endpoints.id AND due_at >= ",
            $since,
            " AND due_at <= $1 AND ",
            is_free!(),
            "
        ORDER BY due_at LIMIT 1
    ) AS first
    WHERE endpoints.id = page.endpoint_id AND endpoints.business_id = page.business_id
      AND NOT endpoints.paused AND endpoints.deleted_at IS NULL AND health.disabled_at IS NULL
      AND (health.tripped_until IS NULL OR health.tripped_until <= $1)"
        )
    };
}

/// Skips from one endpoint to the next in the index (a loose index scan), so a backlog costs nothing extra.
const SCAN: &str = concat!(
    "
WITH RECURSIVE queues (endpoint_id, business_id) AS (
    (SELECT endpoint_id, business_id FROM deliveries
     WHERE due_at IS NOT NULL AND endpoint_id > $2 ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, next.business_id
    FROM queues
    CROSS JOIN LATERAL (
        SELECT deliveries.endpoint_id, deliveries.business_id FROM deliveries
        WHERE deliveries.due_at IS NOT NULL AND deliveries.endpoint_id > queues.endpoint_id
        ORDER BY deliveries.endpoint_id LIMIT 1
    ) AS next
),
page AS (SELECT * FROM queues LIMIT $3)
SELECT page.endpoint_id, page.business_id, waiting.due_at, coalesce(waiting.half_open, false) AS half_open
FROM page
LEFT JOIN LATERAL (",
    first_due!("'-infinity'"),
    ") AS waiting ON true"
);

const STILL_DUE: &str = concat!(
    "
SELECT page.endpoint_id, page.business_id, waiting.due_at, coalesce(waiting.half_open, false) AS half_open
FROM unnest($2, $3, $4) AS page (endpoint_id, business_id, since)
CROSS JOIN LATERAL (",
    first_due!("coalesce(page.since, '-infinity')"),
    ") AS waiting"
);

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    due_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Bool)]
    half_open: bool,
}

/// A part of the scan.
#[derive(Debug, Default)]
pub(crate) struct DuePage {
    /// Endpoints with due deliveries.
    pub due: Vec<(EndpointId, BusinessId)>,
    /// Since when the oldest of these deliveries is due, except those that wait for a probe of a circuit breaker.
    pub oldest: Option<DateTime<Utc>>,
    /// Where the next page begins; none after the last page.
    pub next: Option<String>,
}

/// Looks at the given number of endpoints after the given one.
pub(crate) async fn scan_due(
    conn: &mut AsyncPgConnection,
    after: &str,
    endpoints: i64,
    now: DateTime<Utc>,
) -> Result<DuePage, StoreError> {
    let rows: Vec<Row> = statement(SCAN)
        .bind::<Timestamptz, _>(now)
        .bind::<Text, _>(after)
        .bind::<BigInt, _>(endpoints)
        .load(conn)
        .await?;
    let is_full = i64::try_from(rows.len()).is_ok_and(|count| count == endpoints);
    let next = rows.iter().map(|row| &row.endpoint_id).max().filter(|_| is_full).cloned();
    let oldest = rows.iter().filter(|row| !row.half_open).filter_map(|row| row.due_at).min();
    Ok(DuePage { due: read(rows)?, oldest, next })
}

/// Which of these endpoints have due deliveries, where a claim would look for them.
pub(crate) async fn still_due(
    conn: &mut AsyncPgConnection,
    endpoints: &[&Asked],
    now: DateTime<Utc>,
) -> Result<Vec<(EndpointId, BusinessId)>, StoreError> {
    let rows: Vec<Row> = statement(STILL_DUE)
        .bind::<Timestamptz, _>(now)
        .bind::<Array<Text>, _>(Vec::from_iter(endpoints.iter().map(|asked| asked.endpoint.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(endpoints.iter().map(|asked| asked.business.to_string())))
        .bind::<Array<Nullable<Timestamptz>>, _>(Vec::from_iter(
            endpoints.iter().map(|asked| asked.due_since),
        ))
        .load(conn)
        .await?;
    read(rows)
}

fn read(rows: Vec<Row>) -> Result<Vec<(EndpointId, BusinessId)>, StoreError> {
    let due = rows.into_iter().filter(|row| row.due_at.is_some());
    due.map(|row| Ok((row.endpoint_id.parse().map_err(corrupt)?, row.business_id.parse().map_err(corrupt)?)))
        .collect()
}
