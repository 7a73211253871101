//! Requests of businesses to erase all their completed orders, and their progress.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::statement;

use super::predicates::erasure_running;
use super::schema::erasures;
use super::{StoreError, corrupt};
use crate::domain::BusinessErasure;

#[derive(Queryable, Selectable, AsChangeset)]
#[diesel(table_name = erasures, check_for_backend(diesel::pg::Pg), treat_none_as_null = true)]
struct Row {
    business_id: String,
    requested_at: DateTime<Utc>,
    after_id: String,
    erased: i64,
    not_completed: i64,
    completed_at: Option<DateTime<Utc>>,
    everything: bool,
}

impl From<&BusinessErasure> for Row {
    fn from(erasure: &BusinessErasure) -> Self {
        Self {
            business_id: erasure.business_id.to_string(),
            requested_at: erasure.requested_at,
            after_id: erasure.after.to_string(),
            erased: erasure.erased,
            not_completed: erasure.not_completed,
            completed_at: erasure.completed_at,
            everything: erasure.everything,
        }
    }
}

impl TryFrom<Row> for BusinessErasure {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            business_id: row.business_id.parse().map_err(|error| corrupt("erasures.business_id", error))?,
            requested_at: row.requested_at,
            after: row.after_id.parse().map_err(|error| corrupt("erasures.after_id", error))?,
            erased: row.erased,
            not_completed: row.not_completed,
            completed_at: row.completed_at,
            everything: row.everything,
        })
    }
}

const BEGIN: &str = "
    INSERT INTO erasures AS latest (business_id, requested_at, after_id, erased, not_completed, everything)
    VALUES ($1, $2, $3, 0, 0, $4)
    ON CONFLICT (business_id) DO UPDATE SET
        requested_at = excluded.requested_at, after_id = excluded.after_id, erased = 0, not_completed = 0,
        completed_at = NULL, everything = excluded.everything
    WHERE latest.completed_at IS NOT NULL";

/// Starts an erasure unless one is running. It replaces a completed one.
pub async fn begin(
    conn: &mut AsyncPgConnection,
    new: BusinessErasure,
) -> Result<BusinessErasure, StoreError> {
    statement(BEGIN)
        .bind::<Text, _>(new.business_id.to_string())
        .bind::<Timestamptz, _>(new.requested_at)
        .bind::<Text, _>(new.after.to_string())
        .bind::<Bool, _>(new.everything)
        .execute(conn)
        .await?;
    let begun = of_business(conn, new.business_id).await?;
    begun.ok_or_else(|| StoreError::Corrupt("an erasure was not started".into()))
}

/// The latest erasure of a business.
pub async fn of_business(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<Option<BusinessErasure>, StoreError> {
    let row: Option<Row> =
        erasures::table.find(business.to_string()).select(Row::as_select()).first(conn).await.optional()?;
    row.map(BusinessErasure::try_from).transpose()
}

/// The oldest running erasure that no other instance has locked. Locks it until the transaction ends.
pub async fn lock_next(conn: &mut AsyncPgConnection) -> Result<Option<BusinessErasure>, StoreError> {
    let row: Option<Row> = erasures::table
        .filter(erasure_running())
        .order(erasures::requested_at)
        .select(Row::as_select())
        .for_update()
        .skip_locked()
        .first(conn)
        .await
        .optional()?;
    row.map(BusinessErasure::try_from).transpose()
}

/// Stores the progress. The caller holds the lock.
pub async fn save(conn: &mut AsyncPgConnection, erasure: &BusinessErasure) -> Result<(), StoreError> {
    let saved = diesel::update(erasures::table.find(erasure.business_id.to_string()))
        .set(Row::from(erasure))
        .execute(conn)
        .await?;
    if saved == 1 { Ok(()) } else { Err(StoreError::Corrupt("an erasure disappeared".into())) }
}
