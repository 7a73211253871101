//! Leases: the right of one process to send a delivery for some time. Only the database's clock decides when a lease
//! expires, so the clocks of the processes may differ.

use std::collections::HashSet;
use std::time::Duration;

use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, WebhookDeliveryId};
use postgres::{StoreError, statement};

/// How long a lease is valid. Short, so that other processes take over the deliveries of a dead one within seconds. While
/// an attempt runs, its lease is renewed, so that a slow endpoint is not called twice.
pub(crate) const LEASE: Duration = Duration::from_secs(4);

/// When a lease that begins now ends: after [`LEASE`].
macro_rules! lease_end {
    () => {
        "(clock_timestamp() + interval '4 seconds')"
    };
}
pub(super) use lease_end;

/// The condition that no process has a lease of the delivery.
macro_rules! is_free {
    () => {
        "(deliveries.lease_until IS NULL OR deliveries.lease_until <= statement_timestamp())"
    };
}
pub(super) use is_free;

/// A lease of one process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub delivery: WebhookDeliveryId,
    pub business: BusinessId,
    pub token: i64,
}

/// Changes the deliveries that still have the tokens of the leases `$1` to `$3`, even if the leases have expired. Skips
/// locked rows: their outcome is being written, so they need no lease any more.
macro_rules! of_held {
    ($($change:tt)*) => {
        concat!(
            $($change)*,
            "
FROM (
    SELECT deliveries.id, deliveries.business_id FROM deliveries
    JOIN unnest($1, $2, $3) AS held (id, business_id, token)
        ON held.id = deliveries.id AND held.business_id = deliveries.business_id
    WHERE deliveries.lease_token = held.token
    FOR UPDATE OF deliveries SKIP LOCKED
) AS ours
WHERE deliveries.id = ours.id AND deliveries.business_id = ours.business_id
"
        )
    };
}

const EXTEND: &str =
    concat!(of_held!("UPDATE deliveries SET lease_until = ", lease_end!()), "RETURNING deliveries.id");

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = Text)]
    id: String,
}

/// Extends leases. Returns those that were still ours and not locked.
pub(crate) async fn renew_leases(
    conn: &mut AsyncPgConnection,
    held: &[Lease],
) -> Result<Vec<Lease>, StoreError> {
    let (ids, businesses, tokens) = columns(held);
    let rows: Vec<IdRow> = statement(EXTEND)
        .bind::<Array<Text>, _>(ids)
        .bind::<Array<Text>, _>(businesses)
        .bind::<Array<BigInt>, _>(tokens)
        .load(conn)
        .await?;
    let renewed: HashSet<String> = rows.into_iter().map(|row| row.id).collect();
    Ok(held.iter().filter(|lease| renewed.contains(&lease.delivery.to_string())).copied().collect())
}

const RELEASE: &str = of_held!("UPDATE deliveries SET lease_until = NULL, lease_token = NULL");

/// Ends leases, so that other processes can claim the deliveries at once.
pub(crate) async fn release_leases(
    conn: &mut AsyncPgConnection,
    held: &[Lease],
) -> Result<usize, StoreError> {
    let (ids, businesses, tokens) = columns(held);
    Ok(statement(RELEASE)
        .bind::<Array<Text>, _>(ids)
        .bind::<Array<Text>, _>(businesses)
        .bind::<Array<BigInt>, _>(tokens)
        .execute(conn)
        .await?)
}

fn columns(held: &[Lease]) -> (Vec<String>, Vec<String>, Vec<i64>) {
    (
        held.iter().map(|lease| lease.delivery.to_string()).collect(),
        held.iter().map(|lease| lease.business.to_string()).collect(),
        held.iter().map(|lease| lease.token).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_ends_after_its_time() {
        assert!(lease_end!().contains(&format!("interval '{} seconds'", LEASE.as_secs())));
    }
}
