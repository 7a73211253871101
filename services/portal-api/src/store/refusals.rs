//! What the operator refused businesses.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::StoreError;

use crate::business::domain::Refusal;
use crate::store::schema::refusals;

#[derive(Queryable, Selectable)]
#[diesel(table_name = refusals)]
struct RefusalRow {
    reason: String,
    refused_at: DateTime<Utc>,
    asked_again_at: Option<DateTime<Utc>>,
    note: Option<String>,
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<Option<Refusal>, StoreError> {
    let row = refusals::table
        .find(business.to_string())
        .select(RefusalRow::as_select())
        .first(conn)
        .await
        .optional()?;
    Ok(row.map(Refusal::from))
}

/// Inserts or replaces the refusal.
pub(crate) async fn put(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    diesel::insert_into(refusals::table)
        .values((
            refusals::business_id.eq(business.to_string()),
            refusals::reason.eq(reason),
            refusals::refused_at.eq(now),
        ))
        .on_conflict(refusals::business_id)
        .do_update()
        .set((
            refusals::reason.eq(reason),
            refusals::refused_at.eq(now),
            refusals::asked_again_at.eq(None::<DateTime<Utc>>),
            refusals::note.eq(None::<String>),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// The caller has locked the business, and found its refusal.
pub(crate) async fn ask_again(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    note: Option<&str>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let asked = diesel::update(refusals::table.find(business.to_string()))
        .set((refusals::asked_again_at.eq(now), refusals::note.eq(note)))
        .execute(conn)
        .await?;
    if asked == 1 { Ok(()) } else { Err(diesel::result::Error::NotFound.into()) }
}

pub(crate) async fn remove(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    diesel::delete(refusals::table.find(business.to_string())).execute(conn).await?;
    Ok(())
}

impl From<RefusalRow> for Refusal {
    fn from(row: RefusalRow) -> Self {
        let RefusalRow { reason, refused_at, asked_again_at, note } = row;
        Self { reason, refused_at, asked_again_at, note }
    }
}
