//! The running instances of this service.

use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

/// Four renewals fit into the 12 s after which a killed instance no longer counts. The first row of an instance lasts 4 s
/// only: one that crashes again and again would otherwise count several times.
pub(crate) const INSTANCE_RENEWAL: Duration = Duration::from_secs(3);

const RENEW: &str = "
WITH renewed AS (
    INSERT INTO dispatchers (id, alive_until) VALUES ($1, clock_timestamp() + interval '4 seconds')
    ON CONFLICT (id) DO UPDATE SET alive_until = clock_timestamp() + interval '12 seconds'
),
removed AS (DELETE FROM dispatchers WHERE id <> $1 AND alive_until < clock_timestamp() - interval '1 minute')
SELECT 1 + count(*) AS instances FROM dispatchers WHERE id <> $1 AND alive_until > clock_timestamp()";

#[derive(QueryableByName)]
struct InstancesRow {
    #[diesel(sql_type = BigInt)]
    instances: i64,
}

/// Extends the life of an instance. Returns how many live, with this one.
pub(crate) async fn renew_instance(conn: &mut AsyncPgConnection, id: i64) -> Result<i64, StoreError> {
    let row: InstancesRow = statement(RENEW).bind::<BigInt, _>(id).get_result(conn).await?;
    Ok(row.instances)
}

/// The instance stops: the others share its part at once.
pub(crate) async fn remove_instance(conn: &mut AsyncPgConnection, id: i64) -> Result<usize, StoreError> {
    Ok(statement("DELETE FROM dispatchers WHERE id = $1").bind::<BigInt, _>(id).execute(conn).await?)
}
