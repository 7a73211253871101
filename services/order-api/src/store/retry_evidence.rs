//! Evidence of retries with Test keys: failed requests for a day, and proofs permanently.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};
use postgres::statement;

use super::schema::{failed_test_requests as failed, retry_proofs as proofs};
use super::{StoreError, corrupt};
use crate::domain::{FailedRequest, KeyHash, PlacedRequest, Replay, RetryKind, RetryProof};

const ADD_FAILED: &str = "
    INSERT INTO failed_test_requests (business_id, key_hash, request_id, failed_at)
    SELECT new.* FROM unnest($1, $2, $3, $4) AS new (business_id, key_hash, request_id, failed_at)
    WHERE NOT EXISTS (
        SELECT FROM retry_proofs WHERE retry_proofs.business_id = new.business_id AND kind = 'failure')
    ON CONFLICT DO NOTHING";

const TRIM_FAILED: &str = "
    DELETE FROM failed_test_requests AS failed
    USING (
        SELECT business_id, key_hash, row_number() OVER (PARTITION BY business_id ORDER BY failed_at DESC, key_hash) AS place
        FROM failed_test_requests WHERE business_id = ANY ($1)) AS ranked
    WHERE ranked.place > $2 AND failed.business_id = ranked.business_id AND failed.key_hash = ranked.key_hash";

const ADD_REPLAYS: &str = "
    INSERT INTO retry_proofs (business_id, kind, first_request_id, request_id, proved_at)
    SELECT new.business_id, 'duplicate', orders.request_id, new.request_id, new.at
    FROM unnest($1, $2, $3, $4) AS new (business_id, order_id, request_id, at)
    JOIN orders ON orders.id = new.order_id AND orders.business_id = new.business_id
    ON CONFLICT DO NOTHING";

const PLACED_SINCE: &str = "
    SELECT key_hash, request_id, created_at
    FROM (
        SELECT sha256(convert_to(idempotency_key, 'UTF8')) AS key_hash, request_id, created_at
        FROM orders
        WHERE business_id = $1 AND mode = 'test' AND placement = 'placed' AND id >= $2
        ORDER BY id LIMIT $3) AS placed
    WHERE key_hash = ANY ($4) AND request_id IS NOT NULL";

/// Adds failed requests, and keeps the latest `max` of each business. Skips known keys, and businesses with a proof.
pub async fn add_failures(
    conn: &mut AsyncPgConnection,
    requests: &[FailedRequest],
    max: i64,
) -> Result<(), StoreError> {
    if requests.is_empty() {
        return Ok(());
    }
    let businesses: Vec<String> = requests.iter().map(|request| request.business_id.to_string()).collect();
    statement(ADD_FAILED)
        .bind::<Array<Text>, _>(businesses.clone())
        .bind::<Array<Binary>, _>(requests.iter().map(|request| request.key.as_bytes()).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(
            requests.iter().map(|request| request.request_id.to_string()).collect::<Vec<_>>(),
        )
        .bind::<Array<Timestamptz>, _>(requests.iter().map(|request| request.at).collect::<Vec<_>>())
        .execute(conn)
        .await?;
    statement(TRIM_FAILED).bind::<Array<Text>, _>(businesses).bind::<BigInt, _>(max).execute(conn).await?;
    Ok(())
}

/// Adds the first replay of each business as a proof.
pub async fn add_replays(conn: &mut AsyncPgConnection, replays: &[Replay]) -> Result<(), StoreError> {
    if replays.is_empty() {
        return Ok(());
    }
    let texts = |text: fn(&Replay) -> String| replays.iter().map(text).collect::<Vec<_>>();
    statement(ADD_REPLAYS)
        .bind::<Array<Text>, _>(texts(|replay| replay.business_id.to_string()))
        .bind::<Array<Text>, _>(texts(|replay| replay.order_id.to_string()))
        .bind::<Array<Text>, _>(texts(|replay| replay.request_id.to_string()))
        .bind::<Array<Timestamptz>, _>(replays.iter().map(|replay| replay.at).collect::<Vec<_>>())
        .execute(conn)
        .await?;
    Ok(())
}

/// Adds a proof, unless the business has one of this kind.
pub async fn add_proof(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    proof: &RetryProof,
) -> Result<(), StoreError> {
    diesel::insert_into(proofs::table)
        .values((
            proofs::business_id.eq(business.to_string()),
            proofs::kind.eq(proof.kind.to_string()),
            proofs::first_request_id.eq(proof.first.map(|id| id.to_string())),
            proofs::request_id.eq(proof.retry.to_string()),
            proofs::proved_at.eq(proof.at),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(())
}

/// The proofs of a business.
pub async fn proofs(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<Vec<RetryProof>, StoreError> {
    let rows: Vec<(String, Option<String>, String, DateTime<Utc>)> = proofs::table
        .filter(proofs::business_id.eq(business.to_string()))
        .select((proofs::kind, proofs::first_request_id, proofs::request_id, proofs::proved_at))
        .load(conn)
        .await?;
    let read = |(kind, first, retry, at): (String, Option<String>, String, DateTime<Utc>)| {
        let request = |id: &str| id.parse().map_err(|error| corrupt("retry_proofs.request_id", error));
        Ok(RetryProof {
            kind: kind.parse::<RetryKind>().map_err(|error| corrupt("retry_proofs.kind", error))?,
            first: first.as_deref().map(request).transpose()?,
            retry: request(&retry)?,
            at,
        })
    };
    rows.into_iter().map(read).collect()
}

/// The failed requests of a business.
pub async fn failures(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    max: i64,
) -> Result<Vec<FailedRequest>, StoreError> {
    let rows: Vec<(Vec<u8>, String, DateTime<Utc>)> = failed::table
        .filter(failed::business_id.eq(business.to_string()))
        .select((failed::key_hash, failed::request_id, failed::failed_at))
        .order(failed::failed_at)
        .limit(max)
        .load(conn)
        .await?;
    let read = |(key, request_id, at): (Vec<u8>, String, DateTime<Utc>)| {
        Ok(FailedRequest {
            business_id: business,
            key: KeyHash::from_bytes(&key)
                .ok_or_else(|| corrupt("failed_test_requests.key_hash", "wrong length"))?,
            request_id: request_id
                .parse()
                .map_err(|error| corrupt("failed_test_requests.request_id", error))?,
            at,
        })
    };
    rows.into_iter().map(read).collect()
}

#[derive(QueryableByName)]
struct PlacedRow {
    #[diesel(sql_type = Binary)]
    key_hash: Vec<u8>,
    #[diesel(sql_type = Text)]
    request_id: String,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
}

/// The test orders with one of these keys, among the first `max` orders starting at `from`.
pub async fn placed_since(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    from: OrderId,
    keys: &[KeyHash],
    max: i64,
) -> Result<Vec<PlacedRequest>, StoreError> {
    let rows: Vec<PlacedRow> = statement(PLACED_SINCE)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(from.to_string())
        .bind::<BigInt, _>(max)
        .bind::<Array<Binary>, _>(keys.iter().map(KeyHash::as_bytes).collect::<Vec<_>>())
        .load(conn)
        .await?;
    let read = |row: PlacedRow| {
        Ok(PlacedRequest {
            key: KeyHash::from_bytes(&row.key_hash).ok_or_else(|| corrupt("sha256", "wrong length"))?,
            request_id: row.request_id.parse().map_err(|error| corrupt("orders.request_id", error))?,
            at: row.created_at,
        })
    };
    rows.into_iter().map(read).collect()
}

/// At most `max` businesses with failed requests from before `before`.
pub async fn with_old_failures(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = failed::table
        .filter(failed::failed_at.lt(before))
        .select(failed::business_id)
        .distinct()
        .limit(max)
        .load(conn)
        .await?;
    let read = |id: String| id.parse().map_err(|error| corrupt("failed_test_requests.business_id", error));
    ids.into_iter().map(read).collect()
}

/// Deletes failed requests from before `before`, or all when it is `None`.
pub async fn delete_failures(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    before: Option<DateTime<Utc>>,
) -> Result<(), StoreError> {
    let of_business = failed::table.filter(failed::business_id.eq(business.to_string()));
    match before {
        Some(before) => {
            diesel::delete(of_business.filter(failed::failed_at.lt(before))).execute(conn).await?
        }
        None => diesel::delete(of_business).execute(conn).await?,
    };
    Ok(())
}
