//! Businesses that are being closed, or are closed.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use identity::stored;
use postgres::StoreError;

use crate::business::domain::Closing;
use crate::store::schema::closings;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = closings)]
struct ClosingRow {
    business_id: String,
    requested_at: DateTime<Utc>,
    by_operator: bool,
    reason: Option<String>,
    restores_live_access: bool,
    completed_at: Option<DateTime<Utc>>,
    erase_after: Option<DateTime<Utc>>,
    erased_at: Option<DateTime<Utc>>,
    ending_at: Option<DateTime<Utc>>,
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<Option<Closing>, StoreError> {
    let row = closings::table
        .find(business.to_string())
        .select(ClosingRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Closing::try_from).transpose()
}

/// Whether its closing is completed. Exact while the business is locked.
pub(crate) async fn is_closed(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<bool, StoreError> {
    Ok(find(conn, business).await?.is_some_and(|closing| closing.completed_at.is_some()))
}

/// The caller has locked the business, and found no closing.
pub(crate) async fn insert(conn: &mut AsyncPgConnection, closing: &Closing) -> Result<(), StoreError> {
    let row = ClosingRow {
        business_id: closing.business.to_string(),
        requested_at: closing.requested_at,
        by_operator: closing.by_operator,
        reason: closing.reason.clone(),
        restores_live_access: closing.restores_live_access,
        completed_at: closing.completed_at,
        erase_after: closing.erase_after,
        erased_at: closing.erased_at,
        ending_at: closing.ending_at,
    };
    diesel::insert_into(closings::table).values(row).execute(conn).await?;
    Ok(())
}

/// The operator continues the closing of an owner. The caller has locked the business and found the closing. A withdrawal
/// restores the same as before.
pub(crate) async fn take_over(conn: &mut AsyncPgConnection, begun: &Closing) -> Result<(), StoreError> {
    let author = (
        closings::requested_at.eq(begun.requested_at),
        closings::by_operator.eq(begun.by_operator),
        closings::reason.eq(begun.reason.as_deref()),
    );
    let changed =
        diesel::update(closings::table.find(begun.business.to_string())).set(author).execute(conn).await?;
    if changed == 1 { Ok(()) } else { Err(diesel::result::Error::NotFound.into()) }
}

/// A withdrawal no longer switches live access on.
pub(crate) async fn keep_live_access_off(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<(), StoreError> {
    diesel::update(closings::table.find(business.to_string()))
        .set(closings::restores_live_access.eq(false))
        .execute(conn)
        .await?;
    Ok(())
}

/// The caller has locked the business, and found its closing.
pub(crate) async fn begin_end(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let begun = diesel::update(closings::table.find(business.to_string()))
        .set(closings::ending_at.eq(now))
        .execute(conn)
        .await?;
    if begun == 1 { Ok(()) } else { Err(diesel::result::Error::NotFound.into()) }
}

/// The caller has locked the business, and found its closing.
pub(crate) async fn complete(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    (now, erase_after): (DateTime<Utc>, DateTime<Utc>),
) -> Result<(), StoreError> {
    let end = (closings::completed_at.eq(now), closings::erase_after.eq(erase_after));
    let completed = diesel::update(closings::table.find(business.to_string())).set(end).execute(conn).await?;
    if completed == 1 { Ok(()) } else { Err(diesel::result::Error::NotFound.into()) }
}

/// The caller has locked the business, and found its closing.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    let removed = diesel::delete(closings::table.find(business.to_string())).execute(conn).await?;
    if removed == 1 { Ok(()) } else { Err(diesel::result::Error::NotFound.into()) }
}

/// The businesses that are closed and not erased, at most `max`, the last one first. Covers all businesses.
pub(crate) async fn closed(conn: &mut AsyncPgConnection, max: usize) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = closings::table
        .filter(closings::completed_at.is_not_null())
        .filter(closings::erased_at.is_null())
        .order(closings::completed_at.desc())
        .limit(i64::try_from(max).unwrap_or(i64::MAX))
        .select(closings::business_id)
        .load(conn)
        .await?;
    ids.iter().map(|id| stored("closings.business_id", id)).collect()
}

/// At most `max` businesses whose data is to be erased. Covers all businesses.
pub(crate) async fn due(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    max: i64,
) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = closings::table
        .filter(closings::erase_after.le(now))
        .filter(closings::erased_at.is_null())
        .order(closings::erase_after)
        .limit(max)
        .select(closings::business_id)
        .load(conn)
        .await?;
    ids.iter().map(|id| stored("closings.business_id", id)).collect()
}

/// False if the business is erased already.
pub(crate) async fn set_erased(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let erased = diesel::update(closings::table.find(business.to_string()))
        .filter(closings::erased_at.is_null())
        // What somebody wrote may name people.
        .set((closings::erased_at.eq(now), closings::reason.eq(None::<String>)))
        .execute(conn)
        .await?;
    Ok(erased == 1)
}

impl TryFrom<ClosingRow> for Closing {
    type Error = StoreError;

    fn try_from(row: ClosingRow) -> Result<Self, StoreError> {
        Ok(Self {
            business: stored("closings.business_id", &row.business_id)?,
            requested_at: row.requested_at,
            by_operator: row.by_operator,
            reason: row.reason,
            restores_live_access: row.restores_live_access,
            completed_at: row.completed_at,
            erase_after: row.erase_after,
            erased_at: row.erased_at,
            ending_at: row.ending_at,
        })
    }
}
