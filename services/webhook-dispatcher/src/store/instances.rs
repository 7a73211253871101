//! The running instances of this service. Only the database's clock decides which of them live and which count.

use std::time::Duration;

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Double};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

/// How often an instance shows that it lives.
pub(crate) const INSTANCE_RENEWAL: Duration = Duration::from_secs(1);

/// A running instance, and after which time it counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub id: i64,
    pub counts_in: Duration,
}

const RENEW: &str = "
UPDATE dispatchers SET alive_until = clock_timestamp() + interval '4 seconds'
WHERE id = $1 AND alive_until > clock_timestamp()";

/// No other instance joins meanwhile: the first of several must be known to the others.
const LOCK: &str = "LOCK TABLE dispatchers IN SHARE ROW EXCLUSIVE MODE";

/// The first instance counts at once. Another one counts when no instance has a valid view that does not contain it.
const JOIN: &str = "
WITH removed AS (DELETE FROM dispatchers WHERE id <> $1 AND alive_until < clock_timestamp() - interval '1 minute')
INSERT INTO dispatchers (id, alive_until, counts_from)
SELECT $1, clock_timestamp() + interval '4 seconds', clock_timestamp() + CASE
    WHEN EXISTS (SELECT FROM dispatchers WHERE id <> $1 AND alive_until > clock_timestamp()) THEN interval '5 seconds'
    ELSE interval '0' END
ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until, counts_from = excluded.counts_from";

const LIVING: &str = "
SELECT id, greatest(extract(epoch FROM counts_from - clock_timestamp()), 0)::float8 AS counts_in
FROM dispatchers WHERE alive_until > clock_timestamp()";

#[derive(QueryableByName)]
struct MemberRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Double)]
    counts_in: f64,
}

/// Shows that an instance lives. Returns all that live, with this one. None if it is new, or was silent for too long: then it has
/// to join.
pub(crate) async fn renew_instance(
    conn: &mut AsyncPgConnection,
    id: i64,
) -> Result<Option<Vec<Member>>, StoreError> {
    let renewed = statement(RENEW).bind::<BigInt, _>(id).execute(conn).await?;
    if renewed == 0 { Ok(None) } else { Ok(Some(living(conn).await?)) }
}

/// An instance joins. Needs a transaction, in which nothing has happened before.
pub(crate) async fn join_instances(conn: &mut AsyncPgConnection, id: i64) -> Result<Vec<Member>, StoreError> {
    statement(LOCK).execute(conn).await?;
    statement(JOIN).bind::<BigInt, _>(id).execute(conn).await?;
    living(conn).await
}

async fn living(conn: &mut AsyncPgConnection) -> Result<Vec<Member>, StoreError> {
    let rows: Vec<MemberRow> = statement(LIVING).load(conn).await?;
    let member =
        |row: MemberRow| Member { id: row.id, counts_in: Duration::from_secs_f64(row.counts_in.max(0.0)) };
    Ok(rows.into_iter().map(member).collect())
}

/// The instance claims no more: others take over at once.
pub(crate) async fn remove_instance(conn: &mut AsyncPgConnection, id: i64) -> Result<usize, StoreError> {
    Ok(statement("DELETE FROM dispatchers WHERE id = $1").bind::<BigInt, _>(id).execute(conn).await?)
}
