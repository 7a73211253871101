//! The retries that businesses test with Test keys: at most one row per business, which stops changing once both are proved.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, RequestId};
use postgres::statement;

use super::{StoreError, corrupt};
use crate::domain::{RetryProof, TestedRetries};

/// The order that was placed with the key of the failed request, after it. The index of the keys finds it.
macro_rules! retried {
    () => {
        "LEFT JOIN orders AS retried
            ON retried.business_id = tests.business_id AND retried.mode = 'test' AND retried.placement = 'placed'
                AND retried.idempotency_key = tests.failed_key AND retried.created_at >= tests.failed_at"
    };
}

const FAILED: &str = concat!(
    "INSERT INTO retry_tests (business_id, failed_key, failed_request_id, failed_at)
    SELECT $1, $2, $3, $4
    WHERE NOT EXISTS (
        SELECT FROM retry_tests AS tests ",
    retried!(),
    "
        WHERE tests.business_id = $1 AND (tests.failed_key = $2 OR retried.id IS NOT NULL))
    ON CONFLICT (business_id) DO UPDATE SET
        failed_key = excluded.failed_key,
        failed_request_id = excluded.failed_request_id,
        failed_at = excluded.failed_at",
);

const REPLAYED: &str = "
    INSERT INTO retry_tests (business_id, placing_request_id, replay_request_id, replayed_at)
    SELECT orders.business_id, orders.request_id, $3, $4
    FROM orders
    WHERE orders.business_id = $1 AND orders.id = $2 AND NOT EXISTS (
        SELECT FROM retry_tests WHERE business_id = $1 AND replayed_at IS NOT NULL)
    ON CONFLICT (business_id) DO UPDATE SET
        placing_request_id = excluded.placing_request_id,
        replay_request_id = excluded.replay_request_id,
        replayed_at = excluded.replayed_at
    WHERE retry_tests.replayed_at IS NULL";

const FIND: &str = concat!(
    "SELECT placing_request_id, replay_request_id, replayed_at, failed_request_id,
        retried.request_id AS retry_request_id, retried.created_at AS retried_at
    FROM retry_tests AS tests ",
    retried!(),
    " WHERE tests.business_id = $1",
);

/// Remembers the latest request that failed with a key of its own, until one has succeeded with its key.
pub async fn add_failed(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    key: &str,
    request: RequestId,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    statement(FAILED)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(key)
        .bind::<Text, _>(request.to_string())
        .bind::<Timestamptz, _>(at)
        .execute(conn)
        .await?;
    Ok(())
}

/// Remembers the first replay of the business.
pub async fn add_replayed(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    request: RequestId,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    statement(REPLAYED)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(order.to_string())
        .bind::<Text, _>(request.to_string())
        .bind::<Timestamptz, _>(at)
        .execute(conn)
        .await?;
    Ok(())
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Nullable<Text>)]
    placing_request_id: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    replay_request_id: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    replayed_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    failed_request_id: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    retry_request_id: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    retried_at: Option<DateTime<Utc>>,
}

pub async fn find(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<TestedRetries, StoreError> {
    let found: Option<Found> =
        statement(FIND).bind::<Text, _>(business.to_string()).get_result(conn).await.optional()?;
    let Some(found) = found else { return Ok(TestedRetries::default()) };
    Ok(TestedRetries {
        duplicate: proof(found.replayed_at, [found.placing_request_id, found.replay_request_id])?,
        failure: proof(found.retried_at, [found.failed_request_id, found.retry_request_id])?,
    })
}

fn proof(at: Option<DateTime<Utc>>, ids: [Option<String>; 2]) -> Result<Option<RetryProof>, StoreError> {
    let Some(at) = at else { return Ok(None) };
    let parse =
        |id: String| id.parse::<RequestId>().map_err(|error| corrupt("retry_tests: request id", error));
    let request_ids = ids.into_iter().flatten().map(parse).collect::<Result<Vec<RequestId>, _>>()?;
    Ok(Some(RetryProof { at, request_ids }))
}
