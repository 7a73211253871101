//! The limit of approvals that administrators chose: at most one row.

use chrono::{DateTime, Utc};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::Paise;
use postgres::StoreError;

use crate::store::schema::approval_limit;
use diesel::prelude::*;

pub(crate) async fn find(conn: &mut AsyncPgConnection) -> Result<Option<Paise>, StoreError> {
    let limit = approval_limit::table.select(approval_limit::credits_above_paise).first(conn).await;
    Ok(limit.optional()?.map(Paise::new))
}

/// `None` removes the limit.
pub(crate) async fn set(
    conn: &mut AsyncPgConnection,
    limit: Option<Paise>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let Some(limit) = limit else {
        diesel::delete(approval_limit::table).execute(conn).await?;
        return Ok(());
    };
    let values = (approval_limit::credits_above_paise.eq(limit.get()), approval_limit::changed_at.eq(now));
    diesel::insert_into(approval_limit::table)
        .values((approval_limit::only_row.eq(true), values))
        .on_conflict(approval_limit::only_row)
        .do_update()
        .set(values)
        .execute(conn)
        .await?;
    Ok(())
}
