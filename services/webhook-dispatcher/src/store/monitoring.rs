//! Figures for the operator's metrics. Serves all businesses.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

use super::queues::waiting_queues;

/// Numbers of endpoints by the state of their circuit breaker, and of disabled ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub(crate) struct Breakers {
    #[diesel(sql_type = BigInt)]
    pub open: i64,
    #[diesel(sql_type = BigInt)]
    pub half_open: i64,
    #[diesel(sql_type = BigInt)]
    pub disabled: i64,
}

const BREAKERS: &str = "
SELECT count(*) FILTER (WHERE tripped_until > $1) AS open,
       count(*) FILTER (WHERE tripped_until <= $1) AS half_open,
       (SELECT count(*) FROM endpoint_health
        JOIN endpoints ON endpoints.id = endpoint_health.endpoint_id AND endpoints.business_id = endpoint_health.business_id
        WHERE endpoint_health.disabled_at IS NOT NULL AND endpoints.deleted_at IS NULL) AS disabled
FROM endpoint_health
WHERE failing_since IS NOT NULL AND tripped_until IS NOT NULL";

pub(crate) async fn breakers(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
) -> Result<Breakers, StoreError> {
    Ok(statement(BREAKERS).bind::<Timestamptz, _>(now).get_result(conn).await?)
}

/// Endpoint by endpoint, as in `claims`: the oldest delivery of each is the first in its part of the index.
const OLDEST_DUE: &str = concat!(
    waiting_queues!(),
    "
SELECT min(oldest.due_at) AS due_at
FROM queues
JOIN endpoints ON endpoints.id = queues.endpoint_id AND endpoints.business_id = queues.business_id
    AND NOT endpoints.paused AND endpoints.deleted_at IS NULL
JOIN endpoint_health AS health ON health.endpoint_id = queues.endpoint_id AND health.business_id = queues.business_id
    AND health.disabled_at IS NULL AND health.tripped_until IS NULL
CROSS JOIN LATERAL (
    SELECT due_at FROM deliveries
    WHERE endpoint_id = queues.endpoint_id AND due_at <= $1 AND lease_token IS NULL
    ORDER BY due_at LIMIT 1
) AS oldest"
);

#[derive(QueryableByName)]
struct DueRow {
    #[diesel(sql_type = Nullable<Timestamptz>)]
    due_at: Option<DateTime<Utc>>,
}

/// When the oldest delivery that may be sent now became due.
pub(crate) async fn oldest_due(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, StoreError> {
    let row: DueRow = statement(OLDEST_DUE).bind::<Timestamptz, _>(now).get_result(conn).await?;
    Ok(row.due_at)
}
