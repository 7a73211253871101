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
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    fn get(
        &self,
        local_order_id: &str,
    ) -> impl Future<Output = Result<Option<SyncRecord>, Self::Error>> + Send;
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
  lease_until_ms = excluded.lease_until_ms, error_code = NULL, error_message = NULL
WHERE waybill_sync.status = 'failed'
   OR (waybill_sync.status = 'creating' AND waybill_sync.lease_until_ms <= excluded.attempted_at_ms)
RETURNING CAST(attempt AS TEXT), body";
const CREATED: &str = "
UPDATE waybill_sync SET status = 'created', body = NULL, error_code = NULL, error_message = NULL,
  order_id = $1, tracking_code = $2, tracking_url = $3, delivery_status = $4,
  body_sha256 = $5
WHERE mode = $6 AND local_order_id = $7 AND status <> 'created' RETURNING local_order_id";
const FAILED: &str = "
UPDATE waybill_sync SET status = 'failed', error_code = $1, error_message = $2,
  body = CASE WHEN $3 = 'keep' THEN body END
WHERE mode = $4 AND local_order_id = $5 AND CAST(attempt AS TEXT) = $6 AND status = 'creating'
RETURNING local_order_id";
const GET: &str = "
SELECT status, body, body_sha256, CAST(lease_until_ms AS TEXT), error_code, error_message,
  order_id, tracking_code, tracking_url, delivery_status
FROM waybill_sync WHERE mode = $1 AND local_order_id = $2";

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
    ) -> Result<bool, D::Error> {
        let (body, attempt) = (if keep_body { "keep" } else { "drop" }, attempt.to_string());
        let parameters =
            [error.code.as_str(), &error.message, body, self.mode.as_str(), local_order_id, attempt.as_str()];
        Ok(rows(&self.database, FAILED, &parameters).await?.len() == 1)
    }

    async fn get(&self, local_order_id: &str) -> Result<Option<SyncRecord>, D::Error> {
        let found = rows(&self.database, GET, &[self.mode.as_str(), local_order_id]).await?;
        found.into_iter().next().map(record_of).transpose().map_err(Into::into)
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
    let [status, body, sha256, lease, code, message, id, tracking_code, tracking_url, delivery_status] =
        <[_; 10]>::try_from(row).map_err(|_| UNREADABLE)?;
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
    })
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
