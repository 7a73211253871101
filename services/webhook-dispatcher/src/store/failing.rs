//! Endpoints that only fail, and the notices to their owners.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Double, Integer, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId};
use postgres::{StoreError, statement};

use super::corrupt;
use crate::domain::{AnnouncementSubject, DISABLED_PERCENT, EndpointAnnouncement, SentNotice};

/// For all endpoints of a business together.
const NOTICES_MAX: i64 = 60;

/// An endpoint whose attempts have all failed for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailingEndpoint {
    pub id: EndpointId,
    pub business_id: BusinessId,
    pub failing_since: DateTime<Utc>,
    pub last_attempt_at: DateTime<Utc>,
}

/// A warning to the owner: this share of the time until the endpoint is disabled has passed.
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

/// Endpoints whose attempts have failed for at least this long, from the first failure to the latest. Serves all
/// businesses.
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

const INSERT_NOTICES: &str = "
INSERT INTO endpoint_notices (endpoint_id, business_id, failing_since, percent, told_at)
SELECT new.*, $5 FROM unnest($1, $2, $3, $4) AS new
ON CONFLICT DO NOTHING
RETURNING endpoint_id, percent";

#[derive(QueryableByName)]
struct RecordedRow {
    #[diesel(sql_type = Text)]
    endpoint_id: String,
    #[diesel(sql_type = Integer)]
    percent: i32,
}

const DISABLED_REASON: &str = "every attempt failed for too long";

/// Unless it has recovered or was disabled meanwhile.
const DISABLE: &str = "
UPDATE endpoint_health AS health
SET disabled_at = $3, disabled_reason = $4
FROM unnest($1, $2) AS failing (endpoint_id, since)
WHERE health.endpoint_id = failing.endpoint_id AND health.failing_since = failing.since AND health.disabled_at IS NULL
RETURNING health.endpoint_id, 100 AS percent";

/// Records notices, and disables endpoints whose time is used up. Returns the new notices and, for each endpoint, the
/// announcement of the latest one. Serves all businesses.
pub(crate) async fn record_notices(
    conn: &mut AsyncPgConnection,
    notices: &[Notice],
    now: DateTime<Utc>,
) -> Result<(Vec<Notice>, Vec<EndpointAnnouncement>), StoreError> {
    if notices.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let endpoints = || notices.iter().map(|notice| &notice.endpoint);
    let rows: Vec<RecordedRow> = statement(INSERT_NOTICES)
        .bind::<Array<Text>, _>(Vec::from_iter(endpoints().map(|endpoint| endpoint.id.to_string())))
        .bind::<Array<Text>, _>(Vec::from_iter(endpoints().map(|endpoint| endpoint.business_id.to_string())))
        .bind::<Array<Timestamptz>, _>(Vec::from_iter(endpoints().map(|endpoint| endpoint.failing_since)))
        .bind::<Array<Integer>, _>(Vec::from_iter(notices.iter().map(|notice| notice.percent)))
        .bind::<Timestamptz, _>(now)
        .load(conn)
        .await?;
    let over: Vec<_> = notices.iter().filter(|notice| notice.percent == DISABLED_PERCENT).collect();
    let disabled: Vec<RecordedRow> = statement(DISABLE)
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
    let announcements = announcements(&new, &disabled);
    Ok((new, announcements))
}

fn announcements(new: &[Notice], disabled: &[RecordedRow]) -> Vec<EndpointAnnouncement> {
    let is_disabled = |notice: &Notice| {
        let id = notice.endpoint.id.to_string();
        disabled.iter().any(|row| row.endpoint_id == id)
    };
    let is_latest = |notice: &Notice| {
        new.iter().all(|other| other.endpoint.id != notice.endpoint.id || other.percent <= notice.percent)
    };
    let subject = |notice: &Notice| match notice.percent {
        DISABLED_PERCENT if is_disabled(notice) => {
            Some(AnnouncementSubject::Disabled { reason: DISABLED_REASON.to_owned() })
        }
        // It recovered meanwhile.
        DISABLED_PERCENT => None,
        percent => Some(AnnouncementSubject::Failing { percent }),
    };
    let latest = new.iter().filter(|notice| is_latest(notice));
    latest
        .filter_map(|notice| {
            let (endpoint_id, business_id) = (notice.endpoint.id, notice.endpoint.business_id);
            Some(EndpointAnnouncement { endpoint_id, business_id, subject: subject(notice)? })
        })
        .collect()
}

const SENT_NOTICES: &str = "
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

/// The notices of each endpoint, newest first.
pub(super) async fn sent_notices(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoints: &[String],
) -> Result<HashMap<EndpointId, Vec<SentNotice>>, StoreError> {
    let rows: Vec<NoticeRow> = statement(SENT_NOTICES)
        .bind::<Array<Text>, _>(endpoints)
        .bind::<Text, _>(business.to_string())
        .bind::<BigInt, _>(NOTICES_MAX)
        .load(conn)
        .await?;
    let mut notices: HashMap<EndpointId, Vec<SentNotice>> = HashMap::new();
    for NoticeRow { endpoint_id, percent, told_at } in rows {
        notices
            .entry(endpoint_id.parse().map_err(corrupt)?)
            .or_default()
            .push(SentNotice { percent, at: told_at });
    }
    Ok(notices)
}
