//! The sync record of each local order, and its table. No row means `not_started`.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::database::rows;
use crate::{Database, Delivery, Error, Mode, Row};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncStatus {
    Creating,
    Created,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncError {
    pub code: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncRecord {
    pub status: SyncStatus,
    /// What an earlier attempt may have sent; the next one has to repeat it. Deleted once the delivery is known.
    pub body: Option<String>,
    /// Of the body that was sent last; empty if the delivery has another body, which is unknown.
    pub body_sha256: String,
    pub lease_until_ms: i64,
    pub delivery: Option<Delivery>,
    pub error: Option<SyncError>,
    /// When [`crate::OrderSync::retry_due`] repeats a failed attempt; `None` if a person decides.
    pub retry_at_ms: Option<i64>,
}

/// An order without a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRecord {
    pub local_order_id: String,
    pub attempt: i64,
    pub attempted_at_ms: i64,
    pub record: SyncRecord,
}

/// The right to send one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub attempt: i64,
    /// The body to send.
    pub body: String,
}

/// Where sync records are kept: [`SqlSyncStore`], or a table of yours.
pub trait SyncStore: Send + Sync {
    type Error: From<Error> + Send;

    /// A compare-and-set: of several callers one gets the claim, until its lease ends.
    fn claim(
        &self,
        local_order_id: &str,
        body: &str,
        now_ms: i64,
        lease_until_ms: i64,
    ) -> impl Future<Output = Result<Option<Claim>, Self::Error>> + Send;

    /// Any attempt's success counts, even after its lease has ended. `body_sha256`: empty if its body is unknown.
    fn created(
        &self,
        local_order_id: &str,
        delivery: &Delivery,
        body_sha256: &str,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Only of the latest attempt; false if another one has taken over. `keep_body`: the order may exist.
    fn failed(
        &self,
        local_order_id: &str,
        attempt: i64,
        error: &SyncError,
        keep_body: bool,
        retry_at_ms: Option<i64>,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    fn get(
        &self,
        local_order_id: &str,
    ) -> impl Future<Output = Result<Option<SyncRecord>, Self::Error>> + Send;

    /// Orders without a delivery, the longest untouched first. With `due_at_ms` only those to be repeated by then: failed
    /// ones by their `retry_at_ms`, and those whose process died by the end of its lease.
    fn open(
        &self,
        limit: u32,
        due_at_ms: Option<i64>,
    ) -> impl Future<Output = Result<Vec<OpenRecord>, Self::Error>> + Send;
}

// Parameters are text, and PostgreSQL gives a parameter the type of its place.
const CLAIM: &str = "
INSERT INTO waybill_sync
  (mode, local_order_id, status, body, body_sha256, attempt, attempted_at_ms, lease_until_ms)
VALUES ($1, $2, 'creating', $3, $4, 1, CAST(CAST($5 AS TEXT) AS BIGINT), CAST(CAST($6 AS TEXT) AS BIGINT))
ON CONFLICT (mode, local_order_id) DO UPDATE SET
  status = 'creating', body = COALESCE(waybill_sync.body, excluded.body),
  body_sha256 = CASE WHEN waybill_sync.body IS NULL THEN excluded.body_sha256 ELSE waybill_sync.body_sha256 END,
  attempt = waybill_sync.attempt + 1, attempted_at_ms = excluded.attempted_at_ms,
  lease_until_ms = excluded.lease_until_ms, error_code = NULL, error_message = NULL, retry_at_ms = NULL
WHERE waybill_sync.status = 'failed'
   OR (waybill_sync.status = 'creating' AND waybill_sync.lease_until_ms <= excluded.attempted_at_ms)
RETURNING CAST(attempt AS TEXT), body";
const CREATED: &str = "
UPDATE waybill_sync SET status = 'created', body = NULL, error_code = NULL, error_message = NULL, retry_at_ms = NULL,
  order_id = $1, tracking_code = $2, tracking_url = $3, delivery_status = $4,
  body_sha256 = $5
WHERE mode = $6 AND local_order_id = $7 AND status <> 'created' RETURNING local_order_id";
const FAILED: &str = "
UPDATE waybill_sync SET status = 'failed', error_code = $1, error_message = $2,
  body = CASE WHEN $3 = 'keep' THEN body END,
  retry_at_ms = CAST(NULLIF(CAST($4 AS TEXT), '') AS BIGINT)
WHERE mode = $5 AND local_order_id = $6 AND CAST(attempt AS TEXT) = $7 AND status = 'creating'
RETURNING local_order_id";
macro_rules! columns {
    () => {
        "status, body, body_sha256, CAST(lease_until_ms AS TEXT), error_code, error_message,
  CAST(retry_at_ms AS TEXT), order_id, tracking_code, tracking_url, delivery_status"
    };
}
macro_rules! select_open {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            ", local_order_id, CAST(attempt AS TEXT), CAST(attempted_at_ms AS TEXT)
FROM waybill_sync WHERE mode = $1 AND status <> 'created'",
            $condition,
            " ORDER BY attempted_at_ms LIMIT CAST(CAST($2 AS TEXT) AS BIGINT)"
        )
    };
}
const GET: &str =
    concat!("SELECT ", columns!(), " FROM waybill_sync WHERE mode = $1 AND local_order_id = $2");
const OPEN: &str = select_open!("");
const DUE: &str = select_open!(
    " AND CASE status WHEN 'failed' THEN retry_at_ms ELSE lease_until_ms END <= CAST(CAST($3 AS TEXT) AS BIGINT)"
);

/// Sync records in the table `waybill_sync` of [`crate::TABLES`].
#[derive(Clone, Debug)]
pub struct SqlSyncStore<D> {
    database: D,
    mode: Mode,
}

impl<D: Database> SqlSyncStore<D> {
    /// `mode`: of the API key, because a local order may be sent with both.
    pub fn new(database: D, mode: Mode) -> Self {
        Self { database, mode }
    }
}

impl<D: Database> SyncStore for SqlSyncStore<D> {
    type Error = D::Error;

    async fn claim(
        &self,
        local_order_id: &str,
        body: &str,
        now_ms: i64,
        lease_until_ms: i64,
    ) -> Result<Option<Claim>, D::Error> {
        let (sha256, now, lease) = (sha256_of(body), now_ms.to_string(), lease_until_ms.to_string());
        let parameters = [self.mode.as_str(), local_order_id, body, &sha256, &now, &lease];
        let claimed = rows(&self.database, CLAIM, &parameters).await?;
        claimed.into_iter().next().map(claim_of).transpose().map_err(Into::into)
    }

    async fn created(
        &self,
        local_order_id: &str,
        delivery: &Delivery,
        body_sha256: &str,
    ) -> Result<(), D::Error> {
        let Delivery { id, tracking_code, tracking_url, status } = delivery;
        let parameters = [
            id.as_str(),
            tracking_code,
            tracking_url,
            status,
            body_sha256,
            self.mode.as_str(),
            local_order_id,
        ];
        rows(&self.database, CREATED, &parameters).await?;
        Ok(())
    }

    async fn failed(
        &self,
        local_order_id: &str,
        attempt: i64,
        error: &SyncError,
        keep_body: bool,
        retry_at_ms: Option<i64>,
    ) -> Result<bool, D::Error> {
        let (body, attempt) = (if keep_body { "keep" } else { "drop" }, attempt.to_string());
        let retry_at = retry_at_ms.map(|ms| ms.to_string()).unwrap_or_default();
        let parameters = [
            error.code.as_str(),
            &error.message,
            body,
            &retry_at,
            self.mode.as_str(),
            local_order_id,
            attempt.as_str(),
        ];
        Ok(rows(&self.database, FAILED, &parameters).await?.len() == 1)
    }

    async fn get(&self, local_order_id: &str) -> Result<Option<SyncRecord>, D::Error> {
        let found = rows(&self.database, GET, &[self.mode.as_str(), local_order_id]).await?;
        found.into_iter().next().map(record_of).transpose().map_err(Into::into)
    }

    async fn open(&self, limit: u32, due_at_ms: Option<i64>) -> Result<Vec<OpenRecord>, D::Error> {
        let (mode, limit) = (self.mode.as_str(), limit.to_string());
        let found = match due_at_ms.map(|ms| ms.to_string()) {
            Some(due) => rows(&self.database, DUE, &[mode, &limit, &due]).await?,
            None => rows(&self.database, OPEN, &[mode, &limit]).await?,
        };
        found.into_iter().map(open_of).collect::<Result<_, Error>>().map_err(Into::into)
    }
}

const UNREADABLE: Error = Error::Argument("the row of waybill_sync cannot be read; check its columns");

fn claim_of(row: Row) -> Result<Claim, Error> {
    let [Some(attempt), Some(body)] = <[_; 2]>::try_from(row).map_err(|_| UNREADABLE)? else {
        return Err(UNREADABLE);
    };
    Ok(Claim { attempt: attempt.parse().map_err(|_| UNREADABLE)?, body })
}

fn record_of(row: Row) -> Result<SyncRecord, Error> {
    let [
        status,
        body,
        sha256,
        lease,
        code,
        message,
        retry_at,
        id,
        tracking_code,
        tracking_url,
        delivery_status,
    ] = <[_; 11]>::try_from(row).map_err(|_| UNREADABLE)?;
    let status = match status.as_deref() {
        Some("creating") => SyncStatus::Creating,
        Some("created") => SyncStatus::Created,
        Some("failed") => SyncStatus::Failed,
        _ => return Err(UNREADABLE),
    };
    let delivery = match (id, tracking_code, tracking_url, delivery_status) {
        (Some(id), Some(tracking_code), Some(tracking_url), Some(status)) => {
            Some(Delivery { id, tracking_code, tracking_url, status })
        }
        _ => None,
    };
    Ok(SyncRecord {
        status,
        body,
        body_sha256: sha256.ok_or(UNREADABLE)?,
        lease_until_ms: lease.and_then(|lease| lease.parse().ok()).ok_or(UNREADABLE)?,
        delivery,
        error: code.zip(message).map(|(code, message)| SyncError { code, message }),
        retry_at_ms: retry_at.map(|at| at.parse().map_err(|_| UNREADABLE)).transpose()?,
    })
}

fn open_of(mut row: Row) -> Result<OpenRecord, Error> {
    let mut next = || row.pop().flatten().ok_or(UNREADABLE);
    let attempted_at_ms = next()?.parse().map_err(|_| UNREADABLE)?;
    let attempt = next()?.parse().map_err(|_| UNREADABLE)?;
    let local_order_id = next()?;
    Ok(OpenRecord { local_order_id, attempt, attempted_at_ms, record: record_of(row)? })
}

/// What a body is compared by after it was deleted.
pub fn sha256_of(body: &str) -> String {
    hex(&Sha256::digest(body))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap_or_else(|_| unreachable!("writing to a String does not fail"));
        text
    })
}
