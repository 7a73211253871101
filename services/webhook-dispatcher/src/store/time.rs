//! The database's clock. It decides what is due and which instances live: the clocks of the instances may differ.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::Timestamptz;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

#[derive(QueryableByName)]
struct Now {
    #[diesel(sql_type = Timestamptz)]
    now: DateTime<Utc>,
}

/// Can be pipelined with other statements.
pub(crate) async fn now(mut conn: &AsyncPgConnection) -> Result<DateTime<Utc>, StoreError> {
    let row: Now = statement("SELECT clock_timestamp() AS now").get_result(&mut conn).await?;
    Ok(row.now)
}
