//! Endpoints that only fail, what their owners were told of it, and how all of them fare.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Double, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::queues::waiting_queues;
use crate::announcements::{Trouble, What};
use crate::domain::{DISABLED_PERCENT, Told};

/// Of all endpoints of a business together.
const TOLD_MAX: i64 = 60;

/// An endpoint each attempt of which has failed for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailingEndpoint {
    pub id: EndpointId,
    pub business_id: BusinessId,
    pub failing_since: DateTime<Utc>,
    pub last_attempt_at: DateTime<Utc>,
}

/// What its owner is told: so much of the time that it is given has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub endpoint: FailingEndpoint,
    pub percent: i32,
}

const FAILING: &str = "
SELECT health.endpoint_id, health.business_id, health.failing_since, health.last_delivery_at
FROM endpoint_health AS health
JOIN endpoints ON endpoints.id = health.endpoint_id AND endpoints.business_id = health.business_id
    AND endpoints.deleted_at IS NULL
WHERE health.failing_since IS NOT NULL AND health.disabled_at IS NULL
  AND health.failing_since <= health.last_delivery_at - make_interval(secs => $1)
ORDER BY health.failing_since
LIMIT $2";

#[derive(QueryableByName)]
struct FailingRow {
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Timestamptz)]
    failing_since: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    last_delivery_at: DateTime<Utc>,
}

/// Endpoints that have failed for at least so long, from the first failed attempt to the latest. Serves all businesses.
pub(crate) async fn failing_endpoints(
    conn: &mut AsyncPgConnection,
    at_least: TimeDelta,
    limit: i64,
) -> Result<Vec<FailingEndpoint>, StoreError> {
    let rows: Vec<FailingRow> = statement(FAILING)
        .bind::<Double, _>(at_least.as_seconds_f64())
        .bind::<BigInt, _>(limit)
        .load(conn)
        .await?;
    let endpoint = |row: FailingRow| {
        Ok(FailingEndpoint {
            id: row.endpoint_id.parse().map_err(corrupt)?,
            business_id: row.business_id.parse().map_err(corrupt)?,
            failing_since: row.failing_since,
            last_attempt_at: row.last_delivery_at,
        })
    };
    rows.into_iter().map(endpoint).collect()
}

const TELL: &str = "
INSERT INTO endpoint_notices (endpoint_id, business_id, failing_since, percent, told_at)
SELECT new.*, $5 FROM unnest($1, $2, $3, $4) AS new
ON CONFLICT DO NOTHING
RETURNING endpoint_id, percent";

#[derive(QueryableByName)]
struct ToldRow {
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Integer)]
    percent: i32,
}

const DISABLED_REASON: &str = "every attempt failed for too long";

/// Unless it has recovered, or was disabled, meanwhile.
const DISABLE: &str = "
UPDATE endpoint_health AS health
SET disabled_at = $3, disabled_reason = $4
FROM unnest($1, $2) AS failing (endpoint_id, since)
WHERE health.endpoint_id = failing.endpoint_id AND health.failing_since = failing.since AND health.disabled_at IS NULL
RETURNING health.endpoint_id, 100 AS percent";

/// Notes what owners are told, and disables what has used up its time. Gives back what is new, and of each endpoint what
/// is to be announced: the latest alone. Serves all businesses.
pub(crate) async fn tell(
    conn: &mut AsyncPgConnection,
    notices: &[Notice],
    now: DateTime<Utc>,
) -> Result<(Vec<Notice>, Vec<Trouble>), StoreError> {
    if notices.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let endpoints = || notices.iter().map(|notice| &notice.endpoint);
    let rows: Vec<ToldRow> = statement(TELL)
        .bind::<Array<Text>, _>(Vec::from_iter(endpoints().map(|endpoint| endpoint.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(endpoints().map(|endpoint| endpoint.business_id.to_string())))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(endpoints().map(|endpoint| endpoint.failing_since)))
        .bind::<Array<Integer>, _>(Vec::from_iter(notices.iter().map(|notice| notice.percent)))
        .bind::<Timestamptz, _>(now)
        .load(conn)
        .await?;
    let over: Vec<_> = notices.iter().filter(|notice| notice.percent == DISABLED_PERCENT).collect();
    let disabled: Vec<ToldRow> = statement(DISABLE)
        .bind::<Array<Text>, _>(Vec::from_iter(over.iter().map(|notice| notice.endpoint.id.to_string())))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(
            over.iter().map(|notice| notice.endpoint.failing_since),
        ))
        .bind::<Timestamptz, _>(now)
        .bind::<Text, _>(DISABLED_REASON)
        .load(conn)
        .await?;
    let is_new = |notice: &Notice| {
        let id = notice.endpoint.id.to_string();
        rows.iter().any(|row| row.endpoint_id == id && row.percent == notice.percent)
    };
    let new: Vec<Notice> = notices.iter().filter(|notice| is_new(notice)).cloned().collect();
    let troubles = troubles(&new, &disabled);
    Ok((new, troubles))
}

fn troubles(new: &[Notice], disabled: &[ToldRow]) -> Vec<Trouble> {
    let is_disabled = |notice: &Notice| {
        let id = notice.endpoint.id.to_string();
        disabled.iter().any(|row| row.endpoint_id == id)
    };
    let is_latest = |notice: &Notice| {
        new.iter().all(|other| other.endpoint.id != notice.endpoint.id || other.percent <= notice.percent)
    };
    let what = |notice: &Notice| match notice.percent {
        DISABLED_PERCENT if is_disabled(notice) => {
            Some(What::Disabled { reason: DISABLED_REASON.to_owned() })
        }
        // It has recovered meanwhile.
        DISABLED_PERCENT => None,
        percent => Some(What::Failing { percent }),
    };
    let latest = new.iter().filter(|notice| is_latest(notice));
    latest
        .filter_map(|notice| {
            let (endpoint_id, business_id) = (notice.endpoint.id, notice.endpoint.business_id);
            Some(Trouble { endpoint_id, business_id, what: what(notice)? })
        })
        .collect()
}

const TOLD: &str = "
SELECT endpoint_id, percent, told_at FROM endpoint_notices
WHERE endpoint_id = ANY ($1) AND business_id = $2
ORDER BY told_at DESC, percent DESC
LIMIT $3";

#[derive(QueryableByName)]
struct NoticeRow {
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Integer)]
    percent: i32,
    #[diesel(sql_type = Timestamptz)]
    told_at: DateTime<Utc>,
}

/// What owners were told of each, newest first.
pub(super) async fn told(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoints: &[String],
) -> Result<HashMap<EndpointId, Vec<Told>>, StoreError> {
    let rows: Vec<NoticeRow> = statement(TOLD)
        .bind::<Array<Text>, _>(endpoints)
        .bind::<Text, _>(business.to_string())
        .bind::<BigInt, _>(TOLD_MAX)
        .load(conn)
        .await?;
    let mut told: HashMap<EndpointId, Vec<Told>> = HashMap::new();
    for NoticeRow { endpoint_id, percent, told_at } in rows {
        told.entry(endpoint_id.parse().map_err(corrupt)?).or_default().push(Told { percent, at: told_at });
    }
    Ok(told)
}

/// How many endpoints are left alone, being tried, or disabled.
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

/// For the operator's panels. Serves all businesses.
pub(crate) async fn breakers(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
) -> Result<Breakers, StoreError> {
    Ok(statement(BREAKERS).bind::<Timestamptz, _>(now).get_result(conn).await?)
}

/// Endpoint by endpoint, as senders look (`claims`): the oldest of each is the first in its part of the index.
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

/// Since when the oldest delivery is due that might be sent now. Serves all businesses.
pub(crate) async fn oldest_due(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, StoreError> {
    let row: DueRow = statement(OLDEST_DUE).bind::<Timestamptz, _>(now).get_result(conn).await?;
    Ok(row.due_at)
}
