//! Notes of the staff about businesses. They are append-only.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::StoreError;

use crate::business::domain::StaffNote;
use crate::store::schema::staff_notes;

/// Adds a note. The caller has locked the business, so that numbers have no gap.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    note: &StaffNote,
) -> Result<(), StoreError> {
    diesel::insert_into(staff_notes::table)
        .values((
            staff_notes::business_id.eq(business.to_string()),
            staff_notes::number.eq(note.number),
            staff_notes::author.eq(&note.author),
            staff_notes::text.eq(&note.text),
            staff_notes::created_at.eq(note.created_at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Up to `limit` notes of a business, newest first.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    limit: i64,
    before: Option<i64>,
) -> Result<Vec<StaffNote>, StoreError> {
    type Row = (i64, String, String, DateTime<Utc>);
    let rows: Vec<Row> = staff_notes::table
        .filter(staff_notes::business_id.eq(business.to_string()))
        .filter(staff_notes::number.lt(before.unwrap_or(i64::MAX)))
        .order(staff_notes::number.desc())
        .limit(limit)
        .select((staff_notes::number, staff_notes::author, staff_notes::text, staff_notes::created_at))
        .load(conn)
        .await?;
    let note = |(number, author, text, created_at)| StaffNote { number, author, text, created_at };
    Ok(rows.into_iter().map(note).collect())
}

/// Those of a business that is erased.
pub(crate) async fn remove_all(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    let own = staff_notes::table.filter(staff_notes::business_id.eq(business.to_string()));
    diesel::delete(own).execute(conn).await?;
    Ok(())
}
